import { lazy, Suspense } from "react";
import type { SessionPanel } from "./context.ts";

const ForkPanel = lazy(() => import("../panels/fork-panel.tsx"));
const ResumePanel = lazy(() => import("../panels/resume-panel.tsx"));
const PausePanel = lazy(() => import("../panels/pause-panel.tsx"));
const CancelPanel = lazy(() => import("../panels/cancel-panel.tsx"));
const ReviewPanel = lazy(() => import("../panels/review-panel.tsx"));
const EditPanel = lazy(() => import("../panels/edit-panel.tsx"));

interface Props {
  readonly panel: SessionPanel;
  readonly onClose: () => void;
}

export function SessionPanels({ panel, onClose }: Props) {
  return (
    <Suspense>
      {panel.kind === "fork" ? (
        <ForkPanel at={panel.at} forModel={panel.forModel === true} onClose={onClose} />
      ) : null}
      {panel.kind === "resume" ? <ResumePanel onClose={onClose} /> : null}
      {panel.kind === "pause" ? <PausePanel onClose={onClose} /> : null}
      {panel.kind === "cancel" ? <CancelPanel onClose={onClose} /> : null}
      {panel.kind === "approve" || panel.kind === "reject" ? (
        <ReviewPanel word={panel.kind} onClose={onClose} />
      ) : null}
      {panel.kind === "edit" ? <EditPanel panel={panel} onClose={onClose} /> : null}
    </Suspense>
  );
}
