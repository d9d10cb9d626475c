// Queries a million names in one process and reports the peak of its memory.
import { Resolver, type ResolverOptions } from '@strata/scan';
import { childArgument, reportReady, timed } from '../measure.ts';
import { WILD } from './dns-servers.ts';

const IN_FLIGHT = 1_000;
const SAMPLE_EVERY = 50_000;
const { names, upstreams } = childArgument<ResolverOptions & { readonly names: number }>();
const resolver = new Resolver({ upstreams: upstreams ?? [] });
let next = 0;
let max = 0;
const asker = async () => {
  while (next < names) {
    const name = `n${next++}.${WILD}`;
    const { status } = await resolver.query(name, 'A');
    if (status !== 'found') throw new Error(`${name}: ${status}`);
    if (next % SAMPLE_EVERY === 0) max = Math.max(max, process.memoryUsage.rss());
  }
};
const { seconds } = await timed(() => Promise.all(Array.from({ length: IN_FLIGHT }, asker)));
reportReady({ seconds, rssMiB: Math.round(max / 2 ** 20) }, () => resolver[Symbol.asyncDispose]());
