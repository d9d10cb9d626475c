// Evaluates the tries of one question: one exchange, and the combination of several failures.
import { failed, type Reading, readAnswer } from '../message/answer.ts';
import { type Question, readMessage } from '../message/message.ts';
import { Malformed } from '../message/message-reader.ts';
import type { Exchange } from './exchange.ts';

export interface Failure {
  /** Of the upstream. */
  readonly label: string;
  readonly reading: Reading<unknown>;
}

/** The reading of one try; an unreadable answer becomes a status. */
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
        exchange.strays === 0 ? 'no answer' : `no answer, but ${exchange.strays} that match no question`,
      );
    case 'unreachable':
      return failed('timeout', `unreachable (${exchange.code})`);
    case 'garbled':
      return failed('malformed', exchange.reason);
    case 'stopped':
      return failed('skipped', 'cancelled before the answer');
    default:
      return exchange satisfies never;
  }
}

/** An answer outweighs no answer, and a failure of the name outweighs a refusal of the client. */
const WEIGHT = ['servfail', 'malformed', 'refused', 'timeout'] as const;

/** The reading of a question after its last try. */
export function conclude(failures: readonly Failure[]): Reading<unknown> {
  const status = WEIGHT.find((each) => failures.some(({ reading }) => reading.lookup.status === each)) ?? 'timeout';
  const details = failures.map(({ label, reading }) => `${label}: ${reading.lookup.detail}`);
  const aliases = failures.find(({ reading }) => reading.lookup.status === status)?.reading.lookup.aliases ?? [];
  return failed(status, details.join('; '), aliases);
}
