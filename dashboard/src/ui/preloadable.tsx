import { type ComponentType, lazy, useState } from "react";

/**
 * A part of the page in its own file. A prefetched part renders at once: React delays every suspended part by about
 * 300 ms, which would slow down a page in two parts.
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
    // The next visit retries a failed download.
    loading.catch(() => {
      loading = undefined;
    });
    return loading;
  };
  const Lazy = lazy(preload) as unknown as ComponentType<Props>;
  function Part(props: Props) {
    // Chosen once, because a change would remount everything.
    const [Chosen] = useState(() => loaded ?? Lazy);
    return <Chosen {...props} />;
  }
  return Object.assign(Part, { preload });
}
