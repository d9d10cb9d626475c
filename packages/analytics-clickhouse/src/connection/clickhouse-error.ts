// Failures of ClickHouse: those that pass, and those of a statement.

/** `unavailable`: unreachable, overloaded, too slow, too large for one answer, or not installed. `refused`: the statement is wrong, or not permitted. */
export type ClickHouseFailure = 'unavailable' | 'refused';

export class ClickHouseError extends Error {
  override readonly name = 'ClickHouseError';
  readonly kind: ClickHouseFailure;
  /** Programs print the message without a stack. */
  readonly exitCode = 1;

  constructor(kind: ClickHouseFailure, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** Types of ClickHouse's errors after which the same statement may succeed, then or with other limits. */
const PASSING: ReadonlySet<string> = new Set([
  'ABORTED',
  'ALL_CONNECTION_TRIES_FAILED',
  'CANNOT_ALLOCATE_MEMORY',
  'CANNOT_SCHEDULE_TASK',
  'KEEPER_EXCEPTION',
  'MEMORY_LIMIT_EXCEEDED',
  'NETWORK_ERROR',
  'NOT_ENOUGH_SPACE',
  'NO_ZOOKEEPER',
  'QUERY_WAS_CANCELLED',
  'SERVER_OVERLOADED',
  'SOCKET_TIMEOUT',
  'TABLE_IS_DROPPED',
  'TABLE_IS_READ_ONLY',
  'TIMEOUT_EXCEEDED',
  'TOO_FEW_LIVE_REPLICAS',
  'TOO_MANY_PARTS',
  'TOO_MANY_ROWS_OR_BYTES',
  'TOO_MANY_SIMULTANEOUS_QUERIES',
  'TOO_SLOW',
  'UNKNOWN_STATUS_OF_INSERT',
  'UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE',
]);

export function clickHouseErrorOf(error: unknown): Error {
  if (error instanceof ClickHouseError || error instanceof TypeError) return error;
  const type = typeOf(error);
  if (type === undefined) return new ClickHouseError('unavailable', 'ClickHouse does not respond', { cause: error });
  return new ClickHouseError(PASSING.has(type) ? 'unavailable' : 'refused', `ClickHouse: ${type}`, { cause: error });
}

/** The type of an error of ClickHouse, as `UNKNOWN_TABLE`. Not by its class: chdb has its own copy. */
function typeOf(error: unknown): string | undefined {
  return error instanceof Error && 'type' in error && typeof error.type === 'string' ? error.type : undefined;
}
