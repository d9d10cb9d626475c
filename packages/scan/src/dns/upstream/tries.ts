// What the tries of one question amount to: one exchange read, and many failures summed up.
import { failed, type Reading, readAnswer } from '../message/answer.ts';
import { type Question, readMessage } from '../message/message.ts';
import { Malformed } from '../message/message-reader.ts';
import type { Exchange } from './udp-channel.ts';

export interface Failure {
  /** Of the upstream that was asked. */
  readonly label: string;
  readonly reading: Reading<unknown>;
}

/** What one try brought; whatever cannot be read is a status. */
export function readExchange(exchange: Exchange, query: Buffer, question: Question): Reading<unknown> {
  switch (exchange.kind) {
    case 'answer':
      try {
        return readAnswer(readMessage(exchange.bytes, query, question), question.name, question.type);
      } catch (error) {
        if (error instanceof Malformed) return failed('malformed', error.message);
        throw error;
      }
    case 'timeout':
      return failed(
        'timeout',
        exchange.strays === 0 ? 'no answer' : `no answer, but ${exchange.strays} to no question`,
      );
    case 'unreachable':
      return failed('timeout', `unreachable (${exchange.code})`);
    case 'garbled':
      return failed('malformed', exchange.reason);
    case 'stopped':
      return failed('skipped', 'given up before the answer');
    default:
      return exchange satisfies never;
  }
}

/** What a server said outweighs another one's silence, and what it said about the name outweighs what it said about us. */
const WEIGHT = ['servfail', 'malformed', 'refused', 'timeout'] as const;

/** What to say of a question after its last try. */
export function conclude(failures: readonly Failure[]): Reading<unknown> {
  const status = WEIGHT.find((each) => failures.some(({ reading }) => reading.lookup.status === each)) ?? 'timeout';
  const said = failures.map(({ label, reading }) => `${label}: ${reading.lookup.detail}`);
  const aliases = failures.find(({ reading }) => reading.lookup.status === status)?.reading.lookup.aliases ?? [];
  return failed(status, said.join('; '), aliases);
}
