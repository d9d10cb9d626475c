// Shared resources of a test suite: created before the first test, disposed after the last.
import { after, before } from 'node:test';
import { createInternet, type Internet, type InternetOptions } from '../internet.ts';

export function clockAt(at: number) {
  const clock = { at, now: () => new Date(clock.at) };
  return clock;
}

export const useInternet = (options: InternetOptions): Internet => useDisposable(() => createInternet(options));

export const inState = (internet: Internet, state: string): readonly string[] =>
  internet.domains().filter((domain) => internet.truth(domain).state === state);

export const hasService = (internet: Internet, domain: string, category: string): boolean =>
  internet.truth(domain).services.some((each) => each.category === category && each.isVisible);

/** A placeholder: its properties can be read once the tests run. */
function useDisposable<T extends AsyncDisposable>(make: () => Promise<T>): T {
  let made: T | undefined;
  before(async () => {
    made = await make();
  });
  after(() => made?.[Symbol.asyncDispose]());
  return new Proxy({} as T, { get: (_, key) => Reflect.get(made ?? {}, key) });
}
