import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { tinyChatModel } from '@strata/testnet';
import { inferenceEnds as ends, inference as strata, testGateway } from '../test/running-gateway.ts';

describe('strata inference', () => {
  it('answers a question, and a conversation line by line', async () => {
    const chat = 'chat --temperature 0';
    const one = await ends(`${chat} What is DMARC?`, 0, /^$/);
    assert.match(one.stdout, /^DMARC tells receivers [^\n]*\n$/);
    const more = await ends(chat, 0, /^$/, { input: 'What is DMARC?\n\nWho are you?\n' });
    assert.equal(more.stdout.trim().split('\n').length, 2);
  });

  it('asks a question again and again, and prints how that went', async () => {
    const words = /^3 answers, all whole; the longest pause within one took \d+ ms, in that of receipt (rwr_\w+)\n$/;
    const { stdout, stderr } = await ends('chat --repeat 3 --temperature 0 What is DMARC?', 0, words);
    const [first, ...more] = stdout.trim().split('\n');
    assert.match(first ?? '', /^DMARC tells receivers /);
    assert.deepEqual(more, [first, first], 'each time anew, not as a conversation');
    await strata(`verify ${words.exec(stderr)?.[1]}`);
    await ends('chat --repeat 100000 What is DMARC?', 0, /^\d+ answers, all whole;/, { interruptAt: /\n.*\n/ });
  });

  it('lists models and inspects a file', async () => {
    assert.match(await strata('models list'), /strata-tiny-chat\s+2\.4 M\s+F16\s+256/);
    const [listed] = JSON.parse(await strata('models list --json'));
    const inspected = JSON.parse(await strata(['models', 'inspect', tinyChatModel, '--json']));
    assert.equal(inspected.sha256, listed.sha256);
    const none = /^strata: the model \/nowhere\.gguf cannot be loaded: [^\n]*\n$/;
    await ends('models inspect /nowhere.gguf', 1, none);
  });

  it('makes keys of its own kind, which a running gateway accepts until they are revoked', async () => {
    const made = JSON.parse(await strata('keys create --tier unlimited --json'));
    assert.match(made.key, /^sk-[\w-]{43}$/);
    await strata(`models list --key ${made.key}`);
    await strata(`keys revoke ${made.id}`);
    assert.match(await strata('keys list'), /revoked/);
  });

  it('names what is missing', async () => {
    const { env, directory } = await testGateway();
    const { STRATA_INFERENCE_KEY: _key, ...without } = env;
    const elsewhere = path.join(directory, 'elsewhere');
    const quiet = { ...without, STRATA_DATA: elsewhere, STRATA_MDNS: 'off', STRATA_P2P_LISTEN: '/ip4/127.0.0.1/tcp/0' };
    for (const [args, more, code, words] of [
      ['gateway --join nobody', quiet, 1, /the network cannot be joined: join takes an address/],
      ['gateway --network', { ...quiet, STRATA_P2P_LISTEN: 'nowhere' }, 2, /STRATA_P2P_LISTEN/],
      ['network', without, 1, /answers 404: This gateway is on no network/],
      ['network --base http://127.0.0.1:1', without, 1, /nothing answers/],
      ['network accounts --by luck', without, 2, /Allowed choices are worker, caller, model, day/],
      ['gateway --model /nowhere.gguf', quiet, 1, /cannot be loaded/],
      ['gateway', { ...without, STRATA_MODEL_SLOTS: '0' }, 2, /STRATA_MODEL_SLOTS/],
      ['chat hi', without, 2, /which key\?/],
      ['chat --repeat 2 --model none hi', env, 1, /after 0 whole answers: The model 'none'/],
      ['chat --repeat 2', env, 2, /--repeat needs a question/],
      ['chat --repeat 0 hi', env, 2, /a whole number from 1/],
      ['chat hi --key sk-wrong', without, 1, /unknown or was revoked/],
      ['chat hi --model none', env, 1, /The model 'none' does not exist here/],
      ['chat hi --base http://127.0.0.1:1', env, 1, /nothing answers/],
    ] as const)
      assert.equal((await ends(args, code, words, { env: more })).stdout, '');
  });
});
