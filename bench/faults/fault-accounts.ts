// What was counted under faults, compared with what was answered: receipts, the usage of the key, and the accounts of workers on
// both sides.
import { type GatewayStore, openStore } from '@strata/gateway/store';
import { openStore as openWorkerStore } from '@strata/worker/store';
import { rows } from '../../tests/support/database/backends.ts';
import { until } from '../../tests/support/until.ts';

export interface AnsweredUnderFaults {
  /** Of the gateways. */
  readonly url: string;
  readonly keyId: string;
  /** Receipts of the streams that were received completely, each with so many tokens. */
  readonly completed: ReadonlySet<string>;
  readonly tokens: number;
  /** Files with the accounts of the workers, by peer. */
  readonly workers: ReadonlyMap<string, string>;
}

export interface FaultAccounts {
  /** What is wrong; goal: nothing. */
  readonly wrong: readonly string[];
  /** Tokens that workers have made for completed streams, as receipts have them, and those that both sides have signed for. */
  readonly made: number;
  readonly settled: number;
}

interface Receipt {
  readonly outcome: string;
  readonly usage: { readonly completion_tokens: number };
  readonly segments?: readonly Segment[];
}

interface Segment {
  readonly worker: string;
  readonly nonce: string;
  readonly from: number;
  readonly to: number;
}

const ALL = { limit: 1_000_000 };
/** A gateway gives up a connection that was forgotten 15 s later, and counts what it has stored 5 s after that; longer on a busy machine. */
const COUNTED_MS = 180_000;

export async function accountsOf(of: AnsweredUnderFaults): Promise<FaultAccounts> {
  await using store = await openStore(of.url);
  // Of all days: the gateway with the wrong clock may count in another one.
  const used = async (what: 'requests' | 'completionTokens') => {
    const days = await store.answers.usage({ since: '2000-01-01', keyId: of.keyId });
    return days.reduce((sum, day) => sum + day[what], 0);
  };
  const receipts = async () => {
    const found = await rows(of.url, 'select id, body from answer_receipts');
    return new Map(found.map(({ id, body }) => [String(id), JSON.parse(String(body)) as Receipt]));
  };
  const isCounted = async () => (await used('requests')) === (await receipts()).size;
  const uncounted = await problemOf(until(isCounted, { what: 'each receipt is counted once', limitMs: COUNTED_MS }));
  const all = await receipts();
  const missing = [...of.completed].filter((id) => all.get(id)?.outcome !== 'completed').length;
  const wanted = [...all.values()].reduce((sum, { outcome, usage }) => {
    return sum + (outcome === 'completed' ? of.tokens : usage.completion_tokens);
  }, 0);
  const tokens = await used('completionTokens');
  const segments = [...of.completed].map((id) => all.get(id)?.segments ?? []);
  const workers = await workersOf(store, of, segments.flat());
  const wrong = [
    ...uncounted,
    ...(missing > 0 ? [`${missing} streams without a receipt of a completed answer`] : []),
    ...(tokens === wanted ? [] : [`${tokens} tokens are counted, ${wanted} are in receipts`]),
    ...segments.flatMap((each) => gapsIn(each, of.tokens)),
  ];
  return { ...workers, wrong: [...wrong, ...workers.wrong] };
}

/** The segments of a receipt are the end of the answer: those of the gateways before are not in it. */
function gapsIn(segments: readonly Segment[], tokens: number): readonly string[] {
  const ordered = segments.toSorted((a, b) => a.from - b.from);
  const isGapless = ordered.every(({ to }, n) => to === (ordered[n + 1]?.from ?? tokens));
  return isGapless ? [] : [`segments ${JSON.stringify(ordered.map(({ from, to }) => [from, to]))} of a receipt`];
}

/** What both sides have signed is the same at both, and at least what the receipts of answers say. */
async function workersOf(
  store: GatewayStore,
  { workers }: AnsweredUnderFaults,
  segments: readonly Segment[],
): Promise<FaultAccounts> {
  const settled = await byNonce(store);
  const wrong: string[] = [];
  const [made, agreed] = [new Set<Segment>(segments), segments.filter(({ nonce }) => settled.has(nonce))];
  for (const { nonce, worker, from, to } of agreed) {
    const { worker: peer, outputTokens = 0 } = settled.get(nonce) ?? {};
    if (peer !== worker || outputTokens < to - from) wrong.push(`worker ${worker} is to get less than it has made`);
  }
  const own = new Map<string, ReadonlyMap<string, { readonly outputTokens: number }>>();
  for (const [peer, file] of workers) {
    await using accounts = await openWorkerStore(file);
    const kept = await byNonce(accounts);
    own.set(peer, kept);
    for (const [nonce, { outputTokens, gatewaySignature }] of kept)
      if (gatewaySignature && settled.get(nonce)?.outputTokens !== outputTokens)
        wrong.push(`worker ${peer} has a signature for ${outputTokens} tokens that no gateway has`);
  }
  for (const [nonce, { worker, outputTokens }] of settled)
    if (own.get(worker)?.get(nonce)?.outputTokens !== outputTokens)
      wrong.push(`gateways have ${outputTokens} tokens of worker ${worker} that it has not counted`);
  const sum = (of: Iterable<Segment>) => [...of].reduce((total, { from, to }) => total + to - from, 0);
  return { wrong, made: sum(made), settled: sum(agreed) };
}

const byNonce = async ({ segments }: Pick<GatewayStore, 'segments'>) =>
  new Map((await segments.list(ALL)).map((each) => [Buffer.from(each.nonce).toString('hex'), each]));

const problemOf = (checked: Promise<unknown>): Promise<readonly string[]> =>
  checked.then(
    () => [],
    (error: Error) => [error.message],
  );
