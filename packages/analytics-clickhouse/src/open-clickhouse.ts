// Opens the ClickHouse that holds the sets and the history.
import { type ClickHouseClient, createClient } from '@clickhouse/client';

export type ClickHouse = Pick<ClickHouseClient, 'close' | 'command' | 'insert' | 'query'>;

/** `url`: `https://user:password@host:port/database`. Nothing is sent until the first statement. */
export function openClickHouse(url: string): ClickHouse {
  return createClient({ url });
}
