// Connects the checks of pinned models with the network: workers from offers, the gateway's own copies of files, and
// answers of one worker for its trial.
import path from 'node:path';
import { type Engine, type ModelInfo, openFileTree } from '@strata/engine';
import { type Directory, lackingOf } from '@strata/inference';
import type { Logger } from 'pino';
import { ownVerifier, workerVerifier } from '../audit/audit-panel.ts';
import type { ReputationRecorder } from '../audit/reputation-recorder.ts';
import type { Trust } from '../audit/trust.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { AnswerRelay } from '../relay/answer-relay.ts';
import type { Sessions } from '../session/sessions.ts';
import type { Settlement } from '../settlement.ts';
import { type KnownTree, type PinnedWorker, Proofs } from './proofs.ts';
import { trial } from './trial.ts';

export interface OpenProofsOptions {
  /** SHA-256 by name. */
  readonly pins: ReadonlyMap<string, string>;
  /** Digests of the trees of pinned files, by SHA-256. */
  readonly trees: ReadonlyMap<string, string>;
  /** Keeps the trees of own files. */
  readonly directory: string;
}

export interface OpenProofsDeps {
  readonly directory: Pick<Directory, 'worker'>;
  readonly sessions: Pick<Sessions, 'all'>;
  readonly trust: Trust;
  readonly records: ReputationRecorder;
  readonly settlement: Pick<Settlement, 'settle'>;
  readonly engines: readonly Engine[];
  /** Paths of the gateway's own model files, by SHA-256. */
  readonly files: ReadonlyMap<string, string>;
  readonly onChange: () => void;
  readonly logger: Logger;
  readonly random: () => number;
}

export function openProofs(options: OpenProofsOptions, deps: OpenProofsDeps): Proofs {
  const { sessions, directory, trust, records, engines, onChange, logger, random } = deps;
  const known = new Map<string, ReturnType<typeof knownTree>>();
  return new Proofs(new Set(options.pins.values()), {
    workers: (sha256) =>
      [...sessions.all.values()].flatMap((session) => {
        const { peer, isAlive } = session;
        const offer = directory.worker(peer)?.offer.models.find((model) => model.sha256 === sha256);
        return offer && isAlive && trust.of(peer) > 0 ? [{ session, offer }] : [];
      }),
    knownTree: (sha256) => {
      const tree = known.get(sha256) ?? knownTree(sha256, options, deps.files);
      known.set(sha256, tree);
      // Read again at the next check.
      tree.catch(() => known.delete(sha256));
      return tree;
    },
    ownVerifier: (sha256) => {
      const engine = engines.find(({ info }) => info.sha256 === sha256);
      return engine && ownVerifier(engine);
    },
    trial: (worker, asked) =>
      trial(answersOf(worker, deps), {
        ...asked,
        vocabularySize: worker.offer.vocabularySize,
        drawsItself: drawsItself(worker.offer.lacks),
      }),
    breach: (peer, reason) => trust.breach(peer, reason),
    nowMs: () => performance.now(),
    ...{ workerVerifier, records, onChange, logger, random },
  });
}

const drawsItself = (lacks: number | undefined): boolean => lackingOf(lacks, ['draws']) !== undefined;

async function knownTree(
  sha256: string,
  { trees, directory }: OpenProofsOptions,
  files: ReadonlyMap<string, string>,
): Promise<KnownTree | undefined> {
  const file = files.get(sha256);
  if (file !== undefined) {
    const { digest } = await openFileTree(file, { cache: path.join(directory, `${sha256}.tree`) });
    return { digest, source: 'this gateway has a copy', isCertain: true };
  }
  // The operator may have copied it wrongly.
  const digest = trees.get(sha256);
  return digest === undefined ? undefined : { digest, source: 'the pin names the tree', isCertain: false };
}

/** Its answers settle receipts and can be audited like any other; their text is not needed. */
function answersOf(
  { session, offer }: PinnedWorker,
  { trust, settlement }: Pick<OpenProofsDeps, 'trust' | 'settlement'>,
): Pick<Engine, 'generate'> {
  const fleet: Fleet = {
    ...{ isReady: true, isLoaded: true, slots: 1 },
    choose: (_wanted, { except }) =>
      session.isAlive && !except.has(session.peer)
        ? {
            ...{ session, expectedFirstTokenMs: 1_000, decodeTokensPerSecond: 0 },
            ...{ contextLength: offer.contextLength, loadMs: offer.loadMs ?? 0 },
          }
        : undefined,
    ...{ noteServed: () => {}, noteAnswered: () => {}, noteLost: () => {} },
  };
  const { lacks: _lacks, ...described } = offer;
  const info = { ...described, slots: 1, hasChatTemplate: false } satisfies ModelInfo;
  const vocabulary = { bytes: async (tokens: readonly number[]) => tokens.map(() => new Uint8Array()) };
  return {
    generate: (job, signal, context = {}) =>
      new AnswerRelay(
        { fleet, trust, settlement, vocabulary, info: () => info },
        { hedgeAfter: undefined, timeoutMs: 5_000 },
        { job, context, signal },
      ).events(),
  };
}
