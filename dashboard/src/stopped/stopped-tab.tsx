import { lazy, Suspense } from "react";
import { useScene } from "../session/context.ts";
import { Waiting } from "../ui/loading.tsx";
import { Headline } from "./headline.tsx";
import HelpView from "./help-view.tsx";

const ReviewView = lazy(() => import("./review-view.tsx"));
const BudgetStop = lazy(() => import("./budget-stop.tsx"));
const EffectStop = lazy(() => import("./effect-stop.tsx"));
const CallStop = lazy(() => import("./call-stop.tsx"));
const CallForms = lazy(() => import("./call-stop.tsx").then((calls) => ({ default: calls.CallForms })));
const BreakerStop = lazy(() => import("./breaker-stop.tsx"));

/** The first page for the person on call: what stopped, that nothing is lost, why, and the choices. */
export default function StoppedTab() {
  const { view } = useScene();
  const { situation } = view;
  const asks = view.waiting.some(({ kind }) => kind === "call" || kind === "question");
  const onlyAsks = asks && situation.kind === "review" && view.review === null;
  return (
    <div className="stopped">
      <Headline />
      <Suspense fallback={<Waiting onRetry={() => location.reload()} />}>
        {situation.kind === "review" && view.review !== null ? (
          <ReviewView review={view.review} />
        ) : onlyAsks ? (
          <CallStop />
        ) : situation.kind === "budget" ? (
          <BudgetStop situation={situation} />
        ) : view.effects.some(({ state }) => state === "unknown") ? (
          <EffectStop />
        ) : situation.kind === "breaker" ? (
          <BreakerStop situation={situation} />
        ) : (
          <HelpView />
        )}
        {asks && !onlyAsks ? <CallForms /> : null}
      </Suspense>
    </div>
  );
}
