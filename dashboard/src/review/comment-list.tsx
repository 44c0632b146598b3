import { oneLine, plainText } from "../format/plain-text.ts";
import { Icon } from "../ui/icons.tsx";
import { type Comments, placeOf } from "./comments.ts";

/** The comments that a rejection sends with its note. */
export function CommentList({ comments }: { readonly comments: Comments }) {
  if (comments.list.length === 0) return null;
  return (
    <section aria-label="Comments">
      <h4>Comments, sent with a rejection</h4>
      <ul className="comment-list">
        {comments.list.map((comment) => (
          <li key={`${placeOf(comment)} ${comment.text}`}>
            <div>
              <p className="mono outside comment-place">{oneLine(placeOf(comment), 500)}</p>
              <p className="outside comment-text">{plainText(comment.text)}</p>
            </div>
            <button
              type="button"
              className="button small"
              aria-label={`Remove the comment at ${oneLine(placeOf(comment), 500)}`}
              onClick={() => comments.remove(comment)}
            >
              <Icon name="cross" size={13} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
