import { type ComponentType, lazy, useState } from "react";

/**
 * A part of the page in a file of its own. What was fetched ahead is drawn at once: React holds back what it had to wait
 * for by some 300 ms each time, so that a page in two parts would be slow for no reason.
 */
export function preloadable<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
) {
  let loaded: ComponentType<Props> | undefined;
  let loading: Promise<{ default: ComponentType<Props> }> | undefined;
  const preload = () => {
    loading ??= load().then((part) => {
      loaded = part.default;
      return part;
    });
    // A file that did not come may come the next time.
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };
  const Lazy = lazy(preload) as unknown as ComponentType<Props>;
  function Part(props: Props) {
    // Chosen once: to change it later would draw everything anew.
    const [Chosen] = useState(() => loaded ?? Lazy);
    return <Chosen {...props} />;
  }
  return Object.assign(Part, { preload });
}
