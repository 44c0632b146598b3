import { keyList } from "../keys/key-list.ts";
import { useStore } from "../live/store.ts";
import { Dialog } from "../ui/dialog.tsx";
import { setSingleKeys, singleKeys } from "./settings.ts";

export default function HelpPanel({ onClose }: { readonly onClose: () => void }) {
  const on = useStore(singleKeys);
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div className="key-lists">
        {keyList.map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl className="key-list">
              {keys.map(([combination, does]) => (
                <div key={combination}>
                  <dt>
                    {combination.split(" ").map((part, index) =>
                      part === "to" ? (
                        <span key={index}> to </span>
                      ) : (
                        <kbd key={index} className="key">
                          {part}
                        </kbd>
                      ),
                    )}
                  </dt>
                  <dd>{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className="ink-2">Keys open things. None of them spends, approves or stops anything.</p>
      <label className="check-line">
        <input type="checkbox" checked={on} onChange={(event) => setSingleKeys(event.target.checked)} />
        Single keys (without Ctrl) are on
      </label>
    </Dialog>
  );
}
