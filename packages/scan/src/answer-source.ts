// Where answers come from: recursive resolvers that are asked (stub), or the name servers of the zones (iterative).
import type { Reading } from './answer.ts';
import type { RecordType } from './records.ts';
import type { StopSwitch } from './udp-channel.ts';

/** One question, as it is shared and kept. */
export interface Asking {
  /** Lower-case, without trailing dot; askable. */
  readonly question: string;
  readonly type: RecordType;
  /** Signatures need not be checked (CD, RFC 4035 §3.2.2). */
  readonly isUnchecked: boolean;
  /** The only upstream to ask, by its label; all of them when left out. */
  readonly only?: string;
}

export interface SourceStats {
  readonly sent: number;
  readonly timeouts: number;
  readonly overTcp: number;
  /** Packets with our id that were no answers to our question: forgeries, mostly. */
  readonly strays: number;
  /** Questions that ended in a failure after all tries. */
  readonly failures: number;
}

/** Every question ends, within the time that the source was given; failures are readings. Nothing is kept of answers. */
export interface AnswerSource extends AsyncDisposable {
  /** Those who may vouch for signatures, by label: none where nobody checks them. */
  readonly upstreams: readonly string[];
  ask(asking: Asking, stop: StopSwitch): Promise<Reading<unknown>>;
  stats(): SourceStats;
}
