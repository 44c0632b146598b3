import { moneyTerms } from "../../../src/domain/money-terms.ts";
import type { Usage } from "../api/types.ts";
import { money } from "../format/money.ts";

/** The five amounts of a session, each with its meaning. */
export function MoneyList({ usage }: { readonly usage: Usage }) {
  return (
    <dl className="money-list">
      {moneyTerms.map(({ member, name, sentence }) => (
        <div key={member}>
          <dt>{name}</dt>
          <dd className="strong">{money(usage[member])}</dd>
          <dd className="ink-2">{sentence}</dd>
        </div>
      ))}
    </dl>
  );
}
