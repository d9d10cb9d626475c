// One signal for what its client, its key and the service can end.

/** What a signal aborts: its own list of listeners is searched when one is added or removed. */
const followers = new WeakMap<AbortSignal, Set<AbortController>>();

function followersOf(signal: AbortSignal): Set<AbortController> {
  const known = followers.get(signal);
  if (known) return known;
  const all = new Set<AbortController>();
  followers.set(signal, all);
  signal.addEventListener('abort', () => {
    for (const each of all) each.abort(signal.reason);
  });
  return all;
}

/**
 * Aborts when one of the signals does; `own` ones end with this answer, and keep their listener. `AbortSignal.any` costs
 * several times as much, as it keeps them weakly.
 */
export function abortWith(
  controller: AbortController,
  { own, shared }: { readonly own: readonly AbortSignal[]; readonly shared: AbortSignal },
): Disposable {
  const abort = ({ target }: { readonly target: EventTarget | null }) =>
    controller.abort((target as AbortSignal).reason);
  for (const each of own) {
    if (each.aborted) controller.abort(each.reason);
    else each.addEventListener('abort', abort);
  }
  if (shared.aborted) controller.abort(shared.reason);
  const all = followersOf(shared).add(controller);
  return { [Symbol.dispose]: () => void all.delete(controller) };
}
