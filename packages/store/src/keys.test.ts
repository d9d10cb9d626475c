// What the database knows of API keys: their hashes, by which they are looked up, and nothing that leads back.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, it } from 'node:test';
import { openStore } from './index.ts';

let directory: string;
before(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'strata-keys-'));
});
after(() => rm(directory, { recursive: true, force: true }));

it('keeps of a key its SHA-256 and of an address a salted hash, in no file anything else', async () => {
  const file = path.join(directory, 'strata.db');
  const address = '198.51.100.77';
  const made: string[] = [];
  {
    await using store = await openStore(`sqlite:${file}`);
    made.push((await store.keys.create({ tier: 'free' })).key);
    made.push((await store.keys.issue(address, { perDay: 1 }))?.key ?? '');
    for (const key of made) assert.ok(await store.keys.find(key));
  }
  const bytes = await readFile(file);
  for (const key of made) {
    assert.match(key, /^ssk_[A-Za-z0-9_-]{43}$/);
    assert.equal(bytes.includes(key), false);
    assert.equal(bytes.includes(key.slice('ssk_'.length)), false);
  }
  assert.equal(bytes.includes(address), false);
  assert.equal(bytes.includes(createHash('sha256').update(address).digest('hex')), false);
});

it('finds a key by an index over hashes: no key is compared with what was presented', async () => {
  const file = path.join(directory, 'plan.db');
  {
    await using store = await openStore(`sqlite:${file}`);
    const { key } = await store.keys.create({ tier: 'free' });
    const other = key.endsWith('A') ? 'B' : 'A';
    for (const near of [
      `${key.slice(0, -1)}${other}`,
      key.slice(0, -1),
      `${key}A`,
      key.toLowerCase(),
      ` ${key}`,
      `sk-${key.slice(4)}`,
    ])
      assert.equal(await store.keys.find(near), undefined, near.slice(0, 4));
    assert.ok(await store.keys.find(key));
  }
  using database = new DatabaseSync(file);
  const plan = database.prepare('explain query plan select * from api_keys where hash = ?').all('x');
  assert.match(JSON.stringify(plan), /SEARCH api_keys USING (?:COVERING )?INDEX .*hash/);
});
