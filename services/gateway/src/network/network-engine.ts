// One model of the network as an engine: an answer goes on with another worker when its worker is lost, from the tokens that there are.
import type { Engine, ModelInfo, Vocabulary } from '@strata/engine';
import type { Fleet } from './fleet.ts';
import type { SegmentBooks } from './segment-books.ts';
import type { Trust } from './trust.ts';

export interface NetworkEngineOptions {
  /** Slots and engine may change while it runs. */
  readonly info: () => ModelInfo;
  readonly vocabulary: Vocabulary;
  readonly fleet: Fleet;
  readonly trust: Trust;
  readonly books: SegmentBooks;
  /** Our own peer id. */
  readonly gateway: string;
  /** Given tokens are read one by one as long as that takes no longer. 1,000 by default. */
  readonly replayBudgetMs?: number;
  /** A second worker is asked when the first has said nothing after so many times its expected time. Undefined: never. */
  readonly hedgeAfter?: number;
  /** How long a job waits for a worker to come when there is none. 10,000 by default. */
  readonly patienceMs?: number;
}

/** Rejects with EngineError `crashed` when nobody can finish the answer. */
export function createNetworkEngine(_options: NetworkEngineOptions): Engine {
  throw new Error('not yet');
}
