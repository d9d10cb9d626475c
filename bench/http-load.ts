// HTTP load by autocannon, which fails where an answer is not one of those expected.
import autocannon from 'autocannon';

export interface HttpLoad extends autocannon.Options {
  /** The path of the next request; without it, that of the URL. */
  readonly next?: () => string;
  readonly expected?: readonly number[];
}

/** Answers a second, and the milliseconds that each took: autocannon's own histogram counts in integers. */
export async function httpLoad({ next, expected = [200], ...options }: HttpLoad) {
  const times: number[] = [];
  const requests = next && [{ setupRequest: (request: autocannon.Request) => ({ ...request, path: next() }) }];
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const all = { ...options, ...(requests ? { requests } : {}) };
    const running = autocannon(all, (error, done) => (error ? reject(error) : resolve(done)));
    running.on('response', (_client, _status, _bytes, ms) => times.push(ms));
  });
  const unexpected = Object.keys(result.statusCodeStats ?? {}).filter((status) => !expected.includes(Number(status)));
  if (result.errors > 0 || unexpected.length > 0)
    throw new Error(`${options.url}: ${result.errors} requests failed; answers with ${unexpected.join(', ')}`);
  return { rate: times.length / result.duration, times };
}
