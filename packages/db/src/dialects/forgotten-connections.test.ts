// Which connections end, by what the server says that was asked. With a real one: services/stack/src/store/postgres.test.ts.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { ForgottenConnections } from './forgotten-connections.ts';

for (const [what, isEnded, { processId = 3, started_at = 10, processID = 1 }] of [
  ['ends if its server does not work for it', true, {}],
  ['ends if the server has started after it', true, { started_at: 30, processId: 2 }],
  ['stays if its server works for it', false, { processId: 2 }],
  ['stays if another server was asked', false, { started_at: 11 }],
  ['stays if a pooler gives the processes other numbers', false, { processID: 9 }],
] as const)
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
