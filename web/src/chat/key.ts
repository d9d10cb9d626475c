// The user's API key of the inference service, stored in the browser.
import { storedValue, useObservable } from '../ui/observable.ts';

const stored = storedValue('strata-inference-key');

export const currentKey = stored.get;
export const setKey = stored.set;
export const useKey = (): string | undefined => useObservable(stored);
