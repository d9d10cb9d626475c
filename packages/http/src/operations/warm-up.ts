// The first request to a new process would wait for code to be compiled and pages to be read. Warm-up runs requests
// before the server listens.
import { parseInput } from '../input.ts';
import { answerOf } from '../responses/make-answer.ts';
import type { Notary } from '../responses/notary.ts';
import { type RequestContext, type Route, refuse } from '../route.ts';

export interface WarmUpRequest<App> {
  /** With a `signed` or `csv` response. */
  readonly route: Route<App>;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
}

/** Runs each request without a caller: nothing is counted or cached. The notary should not log either. */
export async function warmUp<App>(app: App, notary: Notary, rehearsals: readonly WarmUpRequest<App>[]): Promise<void> {
  const context: RequestContext = {
    requestId: 'rehearsal',
    address: '::1',
    key: undefined,
    signal: new AbortController().signal,
    resetReads: () => {},
    setHeader: () => {},
    charge: async () => {},
    refuse,
  };
  for (const { route, params = {}, query = {} } of rehearsals) {
    const input = parseInput(route.contract, { params, query });
    await answerOf(route.contract.output, notary, await route.handler(app, input, context));
  }
}
