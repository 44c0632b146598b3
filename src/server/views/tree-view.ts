import { extname } from "node:path";
import type { Maestro } from "../../api/open.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { isoTime, isoTimeOrNull } from "../../domain/iso-time.ts";
import type { SessionFeed } from "../feed/session-feed.ts";
import type { ArtifactTree } from "../schemas/inside.ts";
import type { SessionPageView } from "../schemas/session.ts";

/** At most this many attempts of one persona are offered for comparison. */
const mostAttempts = 20;

/** Recognized by name, because reading every file would be slow. */
const binaryEndings: ReadonlySet<string> = new Set(
  ".png .jpg .jpeg .gif .webp .avif .ico .pdf .zip .gz .tgz .bz2 .xz .zst .7z .jar .class .exe .dll .so .dylib .wasm .woff .woff2 .ttf .otf .mp3 .mp4 .webm .mov .sqlite .db .bin".split(
    " ",
  ),
);

/** The files of one tree of the session. `refs` lists the references. */
export async function treeView(
  maestro: Maestro,
  feed: SessionFeed,
  page: SessionPageView,
  ref: string,
): Promise<ArtifactTree> {
  const trees = refsOf(feed, page);
  const owners = new Map(page.artifacts.map((file) => [file.path, file]));
  const found = await filesAt(maestro, feed, page, ref);
  return {
    ref,
    files: [...found].map(([path, { sha256, bytes }]) => {
      const { phase = null, persona = null } = owners.get(path) ?? {};
      return { path, sha256, bytes, phase, persona, binary: binaryEndings.has(extname(path).toLowerCase()) };
    }),
    trees,
  };
}

async function filesAt(maestro: Maestro, feed: SessionFeed, { artifacts }: SessionPageView, ref: string) {
  const { state, chronicle } = feed;
  // In a graph the current files come from more than one phase.
  if (ref === "head") return new Map(artifacts.map((file) => [file.path, file]));
  if (ref === "parent") {
    const parent = state.created.fork?.session;
    if (parent === undefined) throw unknownRef(ref);
    const shown = await maestro.show(parent);
    return new Map(shown.artifacts.map((file) => [file.path, file]));
  }
  // The file of an older revision may be lost, and a rerun phase has none yet. The journal names their trees.
  const [, name = "", revision] = /^phase:(.+?)(?:@(\d+))?$/.exec(ref) ?? [];
  const { tree } =
    (revision === undefined
      ? state.phases.get(name)
      : chronicle.phases.get(name)?.trees.get(Number(revision))) ?? {};
  return tree === undefined ? maestro.treeAt(feed.id, ref) : maestro.files(feed.id, tree);
}

function refsOf({ state, chronicle }: SessionFeed, { forkOf }: SessionPageView): ArtifactTree["trees"] {
  const phases = [...state.phases].flatMap(([name, phase]) => {
    if (phase.tree === undefined) return [];
    const { endedAt, trees = new Map() } = chronicle.phases.get(name) ?? {};
    const newest = {
      ref: `phase:${name}`,
      kind: "phase",
      label: `After ${name}`,
      at: isoTimeOrNull(endedAt),
    };
    const older = [...trees]
      .filter(([revision]) => revision !== phase.revision)
      .map(([revision, { at }]) => ({
        ref: `phase:${name}@${revision}`,
        kind: "revision",
        label: `${name}, revision ${revision}`,
        at: isoTime(at),
      }));
    return [newest, ...older];
  });
  const attempts = [...state.phases].flatMap(([phase, { personas }]) =>
    [...personas].flatMap(([persona, { attempts }]) =>
      attempts
        .filter(({ tree }) => tree !== undefined)
        .slice(-mostAttempts)
        .map(({ round, attempt, startedAt }) => ({
          ref: `attempt:${phase}/${persona}/r${round}a${attempt}`,
          kind: "attempt",
          label: `${persona}, round ${round} attempt ${attempt}`,
          at: isoTime(startedAt),
        })),
    ),
  );
  const parent =
    forkOf === null
      ? []
      : [{ ref: "parent", kind: "parent", label: `Parent ${forkOf.key ?? forkOf.id}`, at: null }];
  const head = { ref: "head", kind: "head", label: "Now", at: null };
  return [head, ...phases, ...attempts, ...parent] as ArtifactTree["trees"];
}

const unknownRef = (ref: string): InputInvalid =>
  new InputInvalid(`The session has no tree "${ref.slice(0, 200)}".`, {
    advice: 'One of those in "trees": head, phase:<name>, attempt:<phase>/<persona>/r1a1, parent.',
  });
