// Which connections end, by what the server says that was asked. With a real one: services/stack/src/store/postgres.test.ts.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { casesOf } from '../../../../tests/support/vectors.ts';
import { ForgottenConnections } from './forgotten-connections.ts';

type Case = [what: string, isEnded: boolean, processId: number, started_at: number, processID: number];
for (const [what, isEnded, processId, started_at, processID] of casesOf<Case[]>('db', 'silent connections'))
  it(`a connection without a response ${what}`, async ({ mock }) => {
    mock.timers.enable({ apis: ['setInterval'] });
    const rows = [1, 2].map((pid) => ({ pid, is_own: pid === 1, started_at }));
    const [nothing, end] = [async () => {}, mock.fn()];
    const asker = { processID, on: nothing, connect: nothing, end: nothing, query: async () => ({ rows }) };
    using connections = new ForgottenConnections(() => asker as never);
    connections.add({ processId, server: { startedAt: 10, connectedAt: 20 }, awaitedAt: 5, end } as never);
    for (let checks = 0; checks < 4; checks += 1) {
      mock.timers.tick(3_000);
      await yieldToEventLoop();
    }
    assert.equal(end.mock.callCount() > 0, isEnded);
  });
