// The price of rows in requests of the daily quota.

/** Rows that one request pays for. */
export const ROWS_PER_REQUEST = 100;

/** One request per started hundred rows; also for none. */
export const priceOf = (rows: number): number => Math.max(1, Math.ceil(rows / ROWS_PER_REQUEST));
