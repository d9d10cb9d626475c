// The profile endpoint: from memory against a bare Fastify route that sends the same bytes, and computed on each request.
import autocannon from 'autocannon';
import { type Figure, median, perSecond, startChild } from './measure.ts';

interface ServiceProcess {
  readonly url: string;
  readonly key: string;
  readonly bareUrl: string;
  readonly bytes: number;
}

const ROUNDS = 5;
const SECONDS = 3;
const CONNECTIONS = 32;
const COLD_DOMAINS = Number(process.env.STRATA_BENCH_DOMAINS ?? 20_000);

export async function benchProfiles(): Promise<Figure[]> {
  await using service = await startChild<ServiceProcess>(new URL('./service-process.ts', import.meta.url), {
    domains: COLD_DOMAINS,
  });
  const { url, key, bareUrl, bytes } = service.ready;
  const headers = { 'x-stack-key': key };
  const rounds = [];
  for (let i = 0; i < ROUNDS; i += 1) {
    const bare = await rate({ url: bareUrl, duration: SECONDS });
    const hot = await rate({ url: `${url}company-0.com`, headers, duration: SECONDS });
    rounds.push({ bare, hot, ratio: hot / bare });
  }
  // Each domain once, so that every answer is read, signed and logged.
  let next = 1;
  const requests = [
    {
      setupRequest: (request: autocannon.Request) => ({
        ...request,
        path: `/stack/v1/domains/company-${next++}.com`,
        headers,
      }),
    },
  ];
  const cold = await rate({ url, requests, amount: COLD_DOMAINS - 1_000 });
  return [
    {
      what: `profile from memory, ${bytes} bytes`,
      value: perSecond(median(rounds.map((round) => round.hot))),
      against: `bare Fastify route ${perSecond(median(rounds.map((round) => round.bare)))}`,
    },
    {
      what: 'ratio to the bare route',
      value: median(rounds.map((round) => round.ratio)).toFixed(2),
      against: 'goal 0.70',
    },
    { what: 'profile computed (read, signed, logged)', value: perSecond(cold), against: 'goal 3,000/s' },
  ];
}

/** Requests a second; throws when one was not answered with 200. */
async function rate(options: autocannon.Options): Promise<number> {
  const result = await autocannon({ connections: CONNECTIONS, ...options });
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${result.non2xx} answers were not 2xx, ${result.errors} requests failed`);
  return result.requests.total / result.duration;
}
