import assert from 'node:assert/strict';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import { tinyChatModel } from '@strata/testnet';
import { type RunOptions, runStrata } from '../test/run-strata.ts';
import { type TestGateway, testGateway } from '../test/running-gateway.ts';

describe('strata inference', () => {
  let service: TestGateway;
  let env: Readonly<Record<string, string>>;
  before(async () => {
    service = await testGateway();
    env = service.env;
  });

  const strata = (args: readonly string[], options: RunOptions = { env }) => runStrata(['inference', ...args], options);

  it('answers a question, and a conversation line by line', async () => {
    const one = await strata(['chat', 'What', 'is', 'DMARC?', '--temperature', '0']);
    assert.deepEqual([one.code, one.stderr], [0, '']);
    assert.match(one.stdout, /^DMARC tells receivers [^\n]*\n$/);
    const more = await strata(['chat', '--temperature', '0'], {
      env,
      input: 'What is DMARC?\n\nWho are you?\n',
    });
    assert.equal(more.code, 0);
    assert.equal(more.stdout.trim().split('\n').length, 2);
    assert.equal(more.stderr, '');
  });

  it('asks a question again and again, and tells how that went', async () => {
    const args = ['chat', '--repeat', '3', '--temperature', '0', 'What is DMARC?'];
    const { code, stdout, stderr } = await strata(args);
    assert.equal(code, 0, stderr);
    const [first, ...more] = stdout.trim().split('\n');
    assert.match(first ?? '', /^DMARC tells receivers /);
    assert.deepEqual(more, [first, first], 'each time anew, not as a conversation');
    const [, receipt = ''] =
      /^3 answers, all whole; the longest pause within one took \d+ ms, in that of receipt (rwr_\w+)\n$/.exec(stderr) ??
      [];
    assert.equal((await strata(['verify', receipt])).code, 0);
    const interrupted = await strata(['chat', '--repeat', '100000', 'What is DMARC?'], {
      env,
      interruptAt: /\n.*\n/,
    });
    assert.equal(interrupted.code, 0);
    assert.match(interrupted.stderr, /^\d+ answers, all whole;/);
  });

  it('lists models and looks into a file', async () => {
    assert.match((await strata(['models', 'list'])).stdout, /strata-tiny-chat\s+2\.4 M\s+F16\s+256/);
    const [listed] = JSON.parse((await strata(['models', 'list', '--json'])).stdout);
    const inspected = JSON.parse((await strata(['models', 'inspect', tinyChatModel, '--json'])).stdout);
    assert.equal(inspected.sha256, listed.sha256);
    const none = await strata(['models', 'inspect', '/nowhere.gguf']);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /^strata: the model \/nowhere\.gguf cannot be loaded: [^\n]*\n$/);
  });

  it('makes keys of its own kind, which a running gateway takes and lets go', async () => {
    const made = JSON.parse((await strata(['keys', 'create', '--tier', 'unlimited', '--json'])).stdout);
    assert.match(made.key, /^sk-[\w-]{43}$/);
    const listed = await strata(['models', 'list', '--key', made.key]);
    assert.equal(listed.code, 0);
    assert.equal((await strata(['keys', 'revoke', made.id])).code, 0);
    assert.match((await strata(['keys', 'list'])).stdout, /revoked/);
  });

  it('says what is missing', async () => {
    const { STRATA_INFERENCE_KEY: _key, ...without } = env;
    const elsewhere = path.join(service.directory, 'elsewhere');
    const quiet = { ...without, STRATA_DATA: elsewhere, STRATA_MDNS: 'off', STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0' };
    for (const [args, more, code, words] of [
      [['gateway', '--join', 'nobody'], quiet, 1, /the network cannot be joined: join takes an address/],
      [['gateway', '--network'], { ...quiet, STRATA_P2P_LISTEN: 'nowhere' }, 2, /STRATA_P2P_LISTEN/],
      [['network'], without, 1, /answers 404: This gateway is on no network/],
      [['network', '--base', 'http://127.0.0.1:1'], without, 1, /nothing answers/],
      [['network', 'accounts', '--by', 'luck'], without, 2, /Allowed choices are worker, caller, model, day/],
      [['gateway', '--model', '/nowhere.gguf'], quiet, 1, /cannot be loaded/],
      [['gateway'], { ...without, STRATA_MODEL_SLOTS: '0' }, 2, /STRATA_MODEL_SLOTS/],
      [['chat', 'hi'], without, 2, /which key\?/],
      [['chat', '--repeat', '2', '--model', 'none', 'hi'], env, 1, /after 0 whole answers: The model 'none'/],
      [['chat', '--repeat', '2'], env, 2, /--repeat needs a question/],
      [['chat', '--repeat', '0', 'hi'], env, 2, /a whole number from 1/],
      [['chat', 'hi', '--key', 'sk-wrong'], without, 1, /unknown or was revoked/],
      [['chat', 'hi', '--model', 'none'], env, 1, /The model 'none' does not exist here/],
      [['chat', 'hi', '--base', 'http://127.0.0.1:1'], env, 1, /nothing answers/],
    ] as const) {
      const outcome = await strata(args, { env: more });
      assert.equal(outcome.code, code, outcome.stderr);
      assert.match(outcome.stderr, words);
      assert.equal(outcome.stdout, '');
      assert.doesNotMatch(outcome.stderr, /\n +at /);
    }
  });
});
