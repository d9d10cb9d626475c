import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { type Notary, type Route, rehearse, route } from './index.ts';

interface App {
  readonly asked: unknown[];
}
const contract = { method: 'GET', tag: 'Things', summary: 'Things', errors: [], access: 'key' } as const;
const query = z.object({ limit: z.coerce.number().int().max(10).default(5) });
const things = route(
  { ...contract, path: '/things', query, output: { kind: 'signed', schema: z.object({ limit: z.int() }) } },
  (app: App, { limit }, { key }) => {
    app.asked.push(`${limit} ${key}`);
    return { limit };
  },
);
const output = { kind: 'csv', columns: [{ name: 'a', description: 'A' }], description: 'Rows.' } as const;
const cells = { filename: 'a.csv', rows: [['x']], isTruncated: false };
const table = route({ ...contract, path: '/table.csv', output }, (_app: App) => cells);
const file = route(
  { ...contract, path: '/file', output: { kind: 'bytes', contentType: 'text/plain', description: 'A file.' } },
  (_app: App) => ({ bytes: 'x' }),
);

/** Rehearses with an app of its own; tells what was asked and signed. */
async function tried(...rehearsals: { route: Route<App>; query?: Record<string, string> }[]) {
  const app: App = { asked: [] };
  const signed: string[] = [];
  const notary: Notary = {
    sign: async (body) => {
      signed.push(JSON.stringify(body));
      return body;
    },
    signBytes: async (content) => {
      signed.push(Buffer.from(content).toString());
      return {};
    },
  };
  await rehearse(app, notary, rehearsals);
  return { asked: app.asked, signed };
}

describe('a rehearsal', () => {
  it('does all that an answer takes, for nobody', async () => {
    const seven = { route: things, query: { limit: '7' } };
    const { asked, signed } = await tried(seven, { route: things }, { route: table });
    assert.deepEqual(asked, ['7 undefined', '5 undefined']);
    assert.match(signed[0] ?? '', /^\{"_alpha":true,.*"limit":7\}$/);
    assert.equal(signed[2], 'a\r\nx\r\n');
  });

  it('refuses what no caller could ask, and what is not signed', async () => {
    await assert.rejects(tried({ route: things, query: { limit: '11' } }), /Cannot use: limit/);
    await assert.rejects(tried({ route: file }), /kind bytes is not signed/);
  });
});
