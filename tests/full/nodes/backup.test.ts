// Backups of a running service by the command: what is in them, which damage is found, and a service that continues from one.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Internet } from '@strata/testnet';
import {
  type Outcome,
  type RunOptions,
  runStrata,
  temporaryDirectory,
} from '../../../services/cli/src/test/run-strata.ts';
import { type Harness, startHarness } from '../../../services/stack/src/test/harness.ts';
import { type Busy, startBusy } from '../../support/busy-stack.ts';
import { contentOf } from '../../support/node-answers.ts';
import { sharedInternet } from '../../support/shared-internet.ts';

let internet: Internet;
before(async () => {
  internet = await sharedInternet();
});

type Place = Readonly<Record<string, string>>;
const strata = (args: readonly string[], env: Place, options: RunOptions = {}) =>
  runStrata(['stack', ...args], { ...options, env });
const succeeds = async (running: Promise<Outcome>): Promise<Outcome> => {
  const outcome = await running;
  assert.equal(outcome.code, 0, outcome.stderr);
  return outcome;
};

async function contentsOf(harness: Harness, domains: readonly string[]): Promise<unknown> {
  const contents = [];
  for (const each of [...domains.map((domain) => `domains/${domain}`), 'search?limit=20', 'stats/migrations']) {
    const { status, body } = await harness.get(`/stack/v1/${each}`);
    assert.equal(status, 200, each);
    contents.push(contentOf(body));
  }
  return contents;
}

describe('a backup of a service at work', () => {
  it('holds every receipt that was given before it, and a service continues from it', async () => {
    await using busy = await startBusy({ internet, settings: {} });
    await using place = await temporaryDirectory();
    const stopping = new AbortController();
    const working = (async () => {
      while (!stopping.signal.aborted) await busy.step();
    })();
    const given = [...busy.given];
    const folder = path.join(place.path, 'one');
    try {
      await succeeds(strata(['backup', folder, '--keys', `${folder}.keys`], busy.env));
    } finally {
      stopping.abort();
      await working;
    }
    const last = path.join(place.path, 'last');
    const contents = await contentsOf(busy.harness, busy.domains);
    await succeeds(strata(['backup', last], busy.env));
    for (const each of [folder, last])
      assert.match((await succeeds(strata(['backup', '--verify', each], busy.env))).stdout, /is whole/);

    {
      await using to = await temporaryDirectory();
      const env = { STRATA_DATA: path.join(to.path, 'data') };
      await succeeds(strata(['restore', folder, '--keys', `${folder}.keys`], env));
      await using restored = await startHarness({ internet, settings: env, world: busy.world });
      for (const id of given) assert.equal((await restored.ask(`/ledger/receipts/${id}`)).status, 200, id);
      await restored.scan(busy.domains[0] ?? '');
      assert.equal((await restored.get(`/stack/v1/domains/${busy.domains[0]}`)).status, 200);
      // Both logs at the size of the backup are the same log.
      const { ledger } = JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8'));
      const tileOf = ({ running: { service } }: Harness) =>
        service.app.ledger.log.read(`tile/0/000.p/${Math.min(ledger.leaves, 255)}`);
      assert.deepEqual(await tileOf(restored), await tileOf(busy.harness));
      assert.ok(restored.running.service.app.ledger.log.size > ledger.leaves);
    }
    await using to = await temporaryDirectory();
    const env = { STRATA_DATA: path.join(to.path, 'data') };
    await succeeds(strata(['restore', last], env));
    await using restored = await startHarness({ internet, settings: env, world: busy.world });
    assert.deepEqual(await contentsOf(restored, busy.domains), contents);
  });
});

describe('a backup', () => {
  let busy: Busy;
  let place: Awaited<ReturnType<typeof temporaryDirectory>>;
  let set: string;
  before(async () => {
    busy = await startBusy({ internet, settings: {} });
    place = await temporaryDirectory();
    set = path.join(place.path, 'set');
    await succeeds(strata(['backup', set, '--keys', path.join(place.path, 'keys')], busy.env));
  });
  after(async () => {
    await busy?.[Symbol.asyncDispose]();
    await place?.[Symbol.asyncDispose]();
  });
  /** Where nothing is. */
  const empty = async () => {
    const directory = await temporaryDirectory();
    const data = path.join(directory.path, 'data');
    return { data, env: { STRATA_DATA: data }, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
  };

  it('is closed to others, and has no private key', async () => {
    assert.equal(statSync(set).mode & 0o077, 0);
    assert.equal(statSync(path.join(place.path, 'keys')).mode & 0o777, 0o600);
    const names = readdirSync(set, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
    assert.ok(names.length >= 5);
    const keys = JSON.parse(readFileSync(path.join(busy.harness.directory, 'keys/receipts/signing-keys.json'), 'utf8'));
    for (const { name, parentPath } of names)
      assert.ok(!readFileSync(path.join(parentPath, name)).includes(keys.keys[0].d), name);
  });

  it('is found wrong wherever a byte of it is, or a file is not', { timeout: 300_000 }, async () => {
    const files = (JSON.parse(readFileSync(path.join(set, 'manifest.json'), 'utf8')).files as { path: string }[]).map(
      (each) => each.path,
    );
    assert.deepEqual(files.sort(), ['ledger/checkpoint', 'ledger/leaves.gz', 'public-keys.json', 'strata.db']);
    for (const name of files) {
      const copy = path.join(place.path, 'damaged');
      const spoil = async (how: (file: string) => Promise<void>) => {
        await cp(set, copy, { recursive: true });
        await how(path.join(copy, name));
        const { code, stderr } = await strata(['backup', '--verify', copy], busy.env);
        assert.deepEqual([code, stderr.split('\n').length], [1, 2], stderr);
        assert.match(stderr, /^strata: .*damaged/);
        await rm(copy, { recursive: true });
      };
      await spoil(async (file) => {
        const bytes = readFileSync(file);
        bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
        await writeFile(file, bytes);
      });
      await spoil((file) => rm(file));
      if (name === 'strata.db') await spoil((file) => truncate(file, 8_192));
    }
  });

  it('is none without its manifest, and of no later form', async () => {
    const copy = path.join(place.path, 'other');
    await cp(set, copy, { recursive: true });
    const manifest = path.join(copy, 'manifest.json');
    const text = readFileSync(manifest, 'utf8');
    for (const [changed, code, words] of [
      [text.replace('"version": 1', '"version": 2'), 1, /newer version/],
      [text.replace('"strata.db"', '"../strata.db"'), 1, /no manifest/],
      ['{', 1, /not JSON/],
      [undefined, 2, /holds no backup/],
    ] as const) {
      if (changed === undefined) await rm(manifest);
      else await writeFile(manifest, changed);
      for (const command of [
        ['backup', '--verify', copy],
        ['restore', copy],
      ]) {
        await using to = await empty();
        const outcome = await strata(command, to.env);
        assert.equal(outcome.code, code, outcome.stderr);
        assert.match(outcome.stderr, words);
        assert.ok(!existsSync(to.data) || readdirSync(to.data).length === 0);
      }
    }
  });

  it('has its name once it is whole: a kill leaves nothing that could be taken for one', async () => {
    const name = path.join(place.path, 'killed');
    const unfinished = path.join(place.path, '.killed.unfinished');
    await mkdir(path.join(unfinished, 'store'), { recursive: true });
    await writeFile(path.join(unfinished, 'strata.db'), 'half');
    assert.equal((await strata(['backup', '--verify', unfinished], busy.env)).code, 2);
    await succeeds(strata(['backup', name], busy.env));
    assert.ok(!existsSync(unfinished));
    const again = await strata(['backup', name], busy.env);
    assert.deepEqual([again.code, again.stdout], [2, '']);
    assert.match(again.stderr, /is there already/);
    await succeeds(strata(['backup', '--verify', name], busy.env));
  });

  it('is not made of a store and a ledger that are not of one service', async () => {
    await using to = await empty();
    const mixed = { ...to.env, STRATA_DATABASE_URL: `sqlite:${path.join(busy.harness.directory, 'strata.db')}` };
    const { code, stderr } = await strata(['backup', path.join(place.path, 'mixed')], mixed);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /the ledger lacks .* STRATA_DATA/);
    assert.ok(!existsSync(path.join(place.path, 'mixed')));
  });

  it('is not put over anything that is not to be replaced, nor under a running service, nor into the other database', async () => {
    const here = busy.env;
    const running = await strata(['restore', set], here);
    assert.equal(running.code, 2);
    assert.match(running.stderr, /would be replaced: say so with --replace/);
    const forced = await strata(['restore', set, '--replace'], here);
    assert.equal(forced.code, 1);
    assert.match(forced.stderr, /is held by process/);
    await using to = await empty();
    const other = await strata(['restore', set], { ...to.env, STRATA_DATABASE_URL: 'postgres://127.0.0.1:9/none' });
    assert.equal(other.code, 2);
    assert.match(other.stderr, /migrate-store/);
  });

  it('gives new keys where the private ones are not given, and old receipts hold', async () => {
    await using to = await empty();
    const answer = path.join(place.path, 'answer.json');
    const { text } = await busy.harness.get(`/stack/v1/domains/${busy.domains[1]}`);
    await writeFile(answer, text);
    const later = path.join(place.path, 'later');
    await succeeds(strata(['backup', later], busy.env));
    const { stdout } = await succeeds(strata(['restore', later], to.env));
    assert.match(stdout, /new signing keys were made/);
    await using restored = await startHarness({ internet, settings: to.env });
    await succeeds(strata(['verify', answer, '--base', restored.base], {}));
    const fresh = await restored.get(`/stack/v1/domains/${busy.domains[1]}`);
    assert.notEqual(fresh.body.provenance.key_id, JSON.parse(text).provenance.key_id);
    await writeFile(answer, fresh.text);
    await succeeds(strata(['verify', answer, '--base', restored.base], {}));
  });

  it('does not go on with a log that was published further: it keeps the newer, or begins a name', {
    timeout: 120_000,
  }, async () => {
    await using to = await empty();
    await succeeds(strata(['restore', set, '--keys', path.join(place.path, 'keys')], to.env));
    let published = '';
    {
      await using restored = await startHarness({ internet, settings: to.env });
      for (const domain of busy.domains.slice(0, 3)) await restored.get(`/stack/v1/domains/${domain}`);
      published = (await restored.ask('/ledger/checkpoint')).text;
    }
    const refused = await strata(['restore', set, '--replace'], to.env);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /going on from the older one would fork it/);
    assert.match(refused.stderr, /--keep-ledger keeps the newer one/);
    // The service of before is gone, and somebody has its checkpoint.
    await using elsewhere = await empty();
    const witness = path.join(place.path, 'checkpoint');
    await writeFile(witness, published);
    const told = await strata(['restore', set, '--published', witness], elsewhere.env);
    assert.equal(told.code, 1);
    assert.match(told.stderr, /were published/);

    const kept = await succeeds(strata(['restore', set, '--replace', '--keep-ledger'], to.env));
    assert.match(kept.stdout, /strata\.db\.replaced-/);
    {
      await using restored = await startHarness({ internet, settings: to.env });
      const [, size] = published.split('\n');
      assert.ok(restored.running.service.app.ledger.log.size >= Number(size));
    }
    const named = await succeeds(
      strata(['restore', set, '--published', witness, '--origin', 'example.test/two'], elsewhere.env),
    );
    assert.match(named.stdout, /STRATA_LEDGER_ORIGIN=example\.test\/two/);
    await assert.rejects(startHarness({ internet, settings: elsewhere.env }), /is of the log example\.test\/two/);
    await using renamed = await startHarness({
      internet,
      settings: { ...elsewhere.env, STRATA_LEDGER_ORIGIN: 'example.test/two' },
    });
    assert.match((await renamed.ask('/ledger/checkpoint')).text, /^example\.test\/two\n/);
    assert.equal((await renamed.ask(`/ledger/receipts/${busy.given[0]}`)).status, 200);
  });

  it('is in place whole or not served: a service does not start in the midst of a restore', async () => {
    await using to = await empty();
    await succeeds(strata(['restore', set], to.env));
    await mkdir(path.join(to.data, 'restoring'));
    await assert.rejects(startHarness({ internet, settings: to.env }), /a restore .* was interrupted/);
    await succeeds(strata(['restore', set, '--replace'], to.env));
    await using restored = await startHarness({ internet, settings: to.env });
    assert.equal((await restored.get(`/stack/v1/domains/${busy.domains[0]}`)).status, 200);
  });
});
