// What the tests of a suite share: made before the first of them, disposed after the last.
import { after, before } from 'node:test';
import { type AdvisorySourcesOptions, createAdvisorySources } from '../advisories/sources.ts';
import { createInternet, type Internet, type InternetOptions } from '../internet.ts';
import { START } from './reading.ts';

export const useInternet = (options: InternetOptions): Internet => useDisposable(() => createInternet(options));

/** Publishers with the seed `strata`, at the time `START`. */
export const useSources = (options: Partial<AdvisorySourcesOptions> = {}) =>
  useDisposable(() => createAdvisorySources({ seed: 'strata', now: () => new Date(START), ...options }));

/** A stand-in: its properties can be read once the tests run. */
function useDisposable<T extends AsyncDisposable>(make: () => Promise<T>): T {
  let made: T | undefined;
  before(async () => {
    made = await make();
  });
  after(() => made?.[Symbol.asyncDispose]());
  return new Proxy({} as T, { get: (_, key) => Reflect.get(made ?? {}, key) });
}
