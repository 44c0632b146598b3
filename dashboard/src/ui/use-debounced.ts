import { useEffect, useState } from "react";

/** The value once it has been stable for a moment, so that typing does not send a request per letter. */
export function useDebounced<Value>(value: Value, afterMs = 300): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, afterMs]);
  return settled;
}
