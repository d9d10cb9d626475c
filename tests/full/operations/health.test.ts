// The stack service while it stops. Readiness: services/cli/src/main.test.ts, tests/full/database/faults.test.ts.
import path from 'node:path';
import { it } from 'node:test';
import { openStore } from '@strata/stack/store';
import { confirm, GOOGLE, recordScan, scanOf } from '../../../services/stack/src/store/test/scans.ts';
import { sharedInternet, startHarness } from '../../../services/stack/src/test/index.ts';
import { untilAnswer } from '../../support/until.ts';

it('the stack service that stops applies the writes of other nodes for as long as it answers', async () => {
  const internet = await sharedInternet();
  const service = await startHarness({ internet, settings: { STRATA_DRAIN_SECONDS: '10' } });
  const count = async () => Number((await service.get('/stack/v1/stats')).body.domains);
  const before = await count();
  // Not before an answer: two connections of one process cannot wait for each other, and a start deletes what is old.
  await using other = await openStore(`sqlite:${path.join(service.directory, 'strata.db')}`);
  const stopped = service[Symbol.asyncDispose]();
  try {
    await recordScan(other, scanOf('written-late.com', new Date().toISOString(), GOOGLE), confirm);
    await untilAnswer('it is counted while it stops', count, (domains) => domains === before + 1);
  } finally {
    await stopped;
  }
});
