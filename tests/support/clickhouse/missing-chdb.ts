// Why tests of ClickHouse in this process are skipped; false where it is installed.

const name = 'chdb/connection';
export const missingChdb: false | string = await import(name).then(
  () => false,
  () => 'ClickHouse in process is not installed: npm run engine:clickhouse',
);
