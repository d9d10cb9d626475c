// Whether the browser is online; the service may still be unreachable.
import { observable, useObservable } from '../ui/observable.ts';

const online = observable(navigator.onLine);
for (const change of ['online', 'offline']) addEventListener(change, () => online.set(navigator.onLine));

export const useOnline = (): boolean => useObservable(online);
