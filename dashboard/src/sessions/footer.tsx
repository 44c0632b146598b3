import { useQuery } from "@tanstack/react-query";
import { statusQuery } from "../api/queries.ts";
import { money, simulatedText } from "../format/money.ts";
import { useStore } from "../live/store.ts";
import { singleKeys } from "../shell/settings.ts";

export function SessionsFooter() {
  const { data } = useQuery(statusQuery);
  const keys = useStore(singleKeys);
  const simulated = data && simulatedText(data.spentTodayUsd, data.simulatedTodayUsd);
  return (
    <footer className="footer">
      {keys ? (
        <>
          <span>
            <kbd className="key">J</kbd> <kbd className="key">K</kbd> move
          </span>
          <span>
            <kbd className="key">Enter</kbd> open
          </span>
          <span>
            <kbd className="key">?</kbd> all shortcuts
          </span>
        </>
      ) : null}
      <span className="spring" />
      {data === undefined ? null : (
        <>
          <span>
            Spent today {money(data.spentTodayUsd)}
            {simulated === undefined ? "" : `, ${simulated}`}
          </span>
          {(data.savedTodayUsd ?? 0) < 0.005 ? null : (
            <span>{money(data.savedTodayUsd)} not paid again, by resume and reuse</span>
          )}
          <span className="mono">{data.address}</span>
        </>
      )}
    </footer>
  );
}
