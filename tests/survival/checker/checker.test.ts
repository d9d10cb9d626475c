// The checker agrees with the published example, and finds what is altered.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import type { Sql } from './database.ts';
import { leafHash, rootOfProof, Tree } from './merkle.ts';
import { leafOfAnswer, openCheckpoint } from './signatures.ts';
import { checkEvents, checkState, type Finding } from './store-checks.ts';

const read = (name: string) => readFileSync(path.join(import.meta.dirname, '../../../vectors/receipts', name), 'utf8');

it('accepts the example, and no other value, key or root', () => {
  const [answer, keySets] = [read('answer.json'), [JSON.parse(read('key-set.json'))]];
  const { leaf, index, tree_size, proof, checkpoint } = JSON.parse(read('ledger-receipt.json'));
  const found = leafOfAnswer(answer, keySets);
  assert.deepEqual(found, Buffer.from(leaf, 'base64'));
  assert.match(String(leafOfAnswer(answer.replace('Cloudflare', 'Fastly'), keySets)), /a wrong signature/);
  const opened = openCheckpoint(checkpoint, keySets);
  assert.ok(typeof opened !== 'string');
  const siblings = proof.map((each: string) => Buffer.from(each, 'base64'));
  assert.deepEqual(rootOfProof(leafHash(found as Buffer), index, tree_size, siblings), opened.root);
  assert.notDeepEqual(rootOfProof(leafHash(Buffer.from('other')), index, tree_size, siblings), opened.root);
  const forged = checkpoint.replace(`\n${tree_size}\n`, `\n${tree_size + 1}\n`);
  assert.match(String(openCheckpoint(forged, keySets)), /^no key of/);
});

it('has the roots of RFC 6962 for every beginning of a tree, and its proofs lead to them', () => {
  const hex = (text: string) => Buffer.from(text, 'hex');
  const { leaves, roots, inclusion } = JSON.parse(read('../merkle/tree.json'));
  const tree = new Tree(leaves.map(hex));
  for (const [size, root] of roots.entries()) assert.deepEqual(tree.root(size), hex(root), `${size}`);
  for (const { index, size, proof } of inclusion)
    assert.deepEqual(rootOfProof(leafHash(hex(leaves[index])), index, size, proof.map(hex)), tree.root(size));
});

it('finds what is lost, doubled or out of order', async () => {
  const tables: Record<string, Record<string, unknown>[]> = {
    changes: [1, 2, 3].map((id) => ({ id })),
    events: [1, 2, 3].map((seq) => ({ seq, payload: `{"id":"ch_${seq}"}` })),
    stream_events: [1, 2, 3].map((seq) => ({ seq, published_us: seq, body: `{"id":"ev_${seq}"}` })),
    domains: [{ name: 'a.com', last_scanned_at: 5 }],
  };
  const sql: Sql = async (text) => {
    if (/max\(seq\)/.test(text)) return [{ seq: 3 }];
    if (/stream-cursor/.test(text)) return [{ value: '3' }];
    return tables[/from (\w+)/.exec(text)?.[1] ?? ''] ?? [];
  };
  const client = (...seqs: number[]) => seqs.map((seq) => ({ seq, body: `{"id":"ev_${seq}"}` }));
  const kinds = async (events = client(1, 2, 3), at = '1970-01-01T00:00:00.005Z') => {
    const acknowledged = { scans: new Map([['a.com', at]]), counted: new Map(), events };
    const found: Finding[] = [];
    for (const check of [checkState, checkEvents]) for await (const each of check(sql, acknowledged)) found.push(each);
    return found.map(({ kind }) => kind);
  };
  assert.deepEqual(await kinds(), []);
  assert.deepEqual(await kinds(client(1, 2, 2, 3)), ['doubled']);
  assert.deepEqual(await kinds(client(1, 3)), ['lost']);
  assert.deepEqual(await kinds(client(1, 3, 2)), ['wrong']);
  assert.deepEqual(await kinds(client(1, 2), '1970-01-01T00:00:00.006Z'), ['lost']);
  tables.stream_events?.splice(1, 1);
  assert.deepEqual(await kinds(client(1, 3)), ['lost'], 'in the stream');
});
