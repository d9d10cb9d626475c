// `strata inference` as a user runs it, with a real gateway, and with some that break off or are hostile.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { it } from 'node:test';
import type { Engine } from '@strata/engine';
import { readGatewayConfig, startGateway } from '@strata/gateway';
import { createLogger } from '@strata/http';
import { readAnswerContent } from '@strata/inference';
import { canonicalize, prepareReceipt } from '@strata/receipts';
import { tinyChatModel } from '@strata/testnet';
import { casesOf, fakeService, shared, temporaryDirectory } from '../../../../../tests/support/index.ts';
import { assertEnds, jsonOf, type RunOptions } from '../../test/run-strata.ts';
import { forTerminal } from './chat.ts';

/** A gateway on the demo's model; settings of clients `without` a key, and with one, unlimited and labelled `mine`. */
const testGateway = shared(async () => {
  await using stack = new AsyncDisposableStack();
  const { path: directory } = stack.use(await temporaryDirectory());
  const settings = { STRATA_DATA: directory, STRATA_INFERENCE_PORT: '0', STRATA_MODEL: tinyChatModel };
  const running = stack.use(await startGateway(readGatewayConfig(settings), createLogger({ level: 'silent' })));
  const { key } = await running.gateway.keys.create({ tier: 'unlimited', label: 'mine' });
  const without = { STRATA_DATA: directory, STRATA_INFERENCE_URL: `http://127.0.0.1:${running.port}/v1` };
  return Object.assign(stack.move(), { directory, running, without, env: { ...without, STRATA_INFERENCE_KEY: key } });
});

/** Runs a command of `strata inference`, by default with the key of the gateway. */
const ends = async (args: string, code: number, words = /^/, options: RunOptions = {}) =>
  assertEnds(`inference ${args}`, code, words, { env: (await testGateway()).env, ...options });

const strata = async (args: string, options?: RunOptions) => (await ends(args, 0, /^/, options)).stdout;

const piece = (content: unknown) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

/** Runs `strata inference chat` against a gateway that answers so, at this path; what it printed. */
async function chatWith(text: string, code: number, words: RegExp, at = '') {
  const paths: string[] = [];
  await using gateway = await fakeService((request, response) => {
    paths.push(request.url ?? '');
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text));
  });
  const command = `inference chat --model m --base ${gateway.base}${at} --key sk-1 Hi`;
  return [(await assertEnds(command, code, words)).stdout, ...paths];
}

async function gateway(at: string, body?: string): Promise<Response> {
  const { env, running } = await testGateway();
  const headers = { authorization: `Bearer ${env.STRATA_INFERENCE_KEY}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${running.port}${at}`;
  return fetch(url, body === undefined ? { headers } : { method: 'POST', headers, body });
}

/** Asks, and keeps what was sent and what came in files. */
async function asked(stream = false): Promise<Record<'id' | 'salt' | 'request' | 'answer', string>> {
  const model = path.basename(tinyChatModel, '.gguf');
  const messages = [{ role: 'user', content: 'What is SPF?' }];
  const body = JSON.stringify({ model, messages, stream, temperature: 0 });
  const response = await gateway('/v1/chat/completions', body);
  const { directory } = await testGateway();
  const request = path.join(directory, `request-${stream}.json`);
  const answer = path.join(directory, `answer-${stream}`);
  await writeFile(request, body);
  await writeFile(answer, await response.text());
  const { headers } = response;
  return { id: headers.get('x-receipt-id') ?? '', salt: headers.get('x-receipt-salt') ?? '', request, answer };
}

it('strata inference answers a question, and a conversation line by line', async () => {
  const chat = 'chat --temperature 0';
  const one = await ends(`${chat} What is DMARC?`, 0, /^$/);
  assert.match(one.stdout, /^DMARC tells receivers [^\n]*\n$/);
  const more = await ends(chat, 0, /^$/, { input: 'What is DMARC?\n\nWho are you?\n' });
  assert.equal(more.stdout.trim().split('\n').length, 2);
});

it('strata inference repeats a question and prints a summary', async () => {
  const words = /^3 complete answers; longest pause \d+ ms \(receipt (rwr_\w+)\)\n$/;
  const { stdout, stderr } = await ends('chat --repeat 3 --temperature 0 What is DMARC?', 0, words);
  const [first, ...more] = stdout.trim().split('\n');
  assert.match(first ?? '', /^DMARC tells receivers /);
  assert.deepEqual(more, [first, first], 'each time a new conversation');
  await strata(`verify ${words.exec(stderr)?.[1]}`);
  await ends('chat --repeat 100000 What is DMARC?', 0, /^\d+ complete answers?;/, { interruptAt: /\n.*\n/ });
});

it('strata inference lists models and inspects a file', async () => {
  assert.match(await strata('models list'), /strata-tiny-chat\s+2\.4 M\s+F16\s+256/);
  const [listed] = JSON.parse(await strata('models list --json'));
  const inspected = await jsonOf(['inference', 'models', 'inspect', tinyChatModel, '--json']);
  assert.equal(inspected.sha256, listed.sha256);
  const none = /^strata: the model \/nowhere\.gguf cannot be loaded: [^\n]*\n$/;
  await ends('models inspect /nowhere.gguf', 1, none);
});

it('strata inference makes keys of its own kind, which a running gateway accepts until they are revoked', async () => {
  const made = JSON.parse(await strata('keys create --tier unlimited --json'));
  assert.match(made.key, /^sk-[\w-]{43}$/);
  await strata(`models list --key ${made.key}`);
  await strata(`keys revoke ${made.id}`);
  assert.match(await strata('keys list'), /revoked/);
});

it('strata inference names what is missing', async () => {
  const { env, directory, without } = await testGateway();
  const elsewhere = path.join(directory, 'elsewhere');
  const ports = { STRATA_INFERENCE_PORT: '0', STRATA_P2P: 'listen=/ip4/127.0.0.1/tcp/0,mdns=off' };
  const quiet = { ...without, ...ports, STRATA_DATA: elsewhere };
  const bases = { quiet, without, env };
  type Case = [args: string, base: keyof typeof bases, more: Record<string, string>, code: number, words: string];
  for (const [args, base, more, code, words] of casesOf<Case[]>('cli', 'what strata inference lacks'))
    assert.equal((await ends(args, code, new RegExp(words), { env: { ...bases[base], ...more } })).stdout, '');
});

for (const [what, rest, words] of [
  ...casesOf<[string, string, string][]>('cli', 'broken answers of a chat'),
  ['a chunk is odd', piece(7), 'a chunk that cannot be read'],
] as const)
  it(`strata inference fails in a chat where ${what}; what came is printed`, async () =>
    assert.equal((await chatWith(piece('Half') + rest, 1, new RegExp(words)))[0], 'Half\n'));

it('strata inference reaches a gateway below a path of its host', async () => {
  const answer = `${piece('Yes')}data: [DONE]\n\n`;
  assert.deepEqual(await chatWith(answer, 0, /^/, '/below/v1'), ['Yes\n', '/below/v1/chat/completions']);
});

it('strata inference removes control characters from answers on a terminal', () =>
  assert.equal(forTerminal('a\u001b]0;title\u0007b\u009b2Jc\r\n\td\u007f'), 'a]0;titleb2Jc\n\td'));

it('strata inference verifies a receipt as that of this request and this answer, complete or streamed', async () => {
  for (const stream of [false, true]) {
    const { id, salt, request, answer } = await asked(stream);
    const stdout = await strata(`verify ${id} --salt ${salt} --request ${request} --answer ${answer}`);
    for (const step of 'content key signature leaf inclusion checkpoint consistency request answer'.split(' '))
      assert.match(stdout, new RegExp(`^ok +${step}`, 'm'));
  }
});

it('strata inference rejects a receipt for another request or answer, and an altered receipt', async () => {
  const { id, salt, request, answer } = await asked();
  const other = salt.replace(/^./, (digit) => (digit === '0' ? '1' : '0'));
  assert.match((await ends(`verify ${id} --salt ${other} --request ${request}`, 1)).stdout, /^FAILED request/m);
  await ends(`verify ${id} --request ${request}`, 2, /are salted; set --salt/);
  await writeFile(answer, (await readFile(answer, 'utf8')).replace('SPF', 'SPX'));
  const altered = await ends(`verify ${id} --salt ${salt} --answer ${answer} --request ${request}`, 1);
  assert.match(altered.stdout, /^FAILED answer/m);
  assert.match((await ends(`verify ${id} --salt ${salt} --request ${answer}`, 1)).stdout, /^FAILED request/m);
  const { directory, without } = await testGateway();
  const saved = path.join(directory, 'receipt.json');
  const receipt = await (await gateway(`/v1/receipts/${id}`)).text();
  await writeFile(saved, receipt);
  await strata(`verify ${saved}`, { env: without });
  await writeFile(saved, receipt.replace(/"completion_tokens":\d+/, '"completion_tokens":1'));
  assert.match((await ends(`verify ${saved}`, 1)).stdout, /^FAILED signature/m);
});

it('strata inference verifies an earlier receipt, whose digests have no salt', async () => {
  const { running, directory, without } = await testGateway();
  const { id, request, answer } = await asked();
  const { provenance: _, ...receipt } = JSON.parse(await (await gateway(`/v1/receipts/${id}`)).text());
  const content = canonicalize(readAnswerContent(await readFile(answer, 'utf8')));
  const plain = { request_sha256: hash('sha256', await readFile(request)), answer_sha256: hash('sha256', content) };
  const { request_hmac_sha256: _request, answer_hmac_sha256: _answer, ...rest } = receipt;
  const { ledger } = running.gateway;
  const options = ledger.issuing();
  const prepared = prepareReceipt({ ...rest, ...plain }, options);
  const { body, leaf } = prepared.finish(ledger.signer.sign(prepared.signedBytes));
  await ledger.log.append(leaf);
  const saved = path.join(directory, 'earlier.json');
  await writeFile(saved, JSON.stringify(body));
  await strata(`verify ${saved} --request ${request} --answer ${answer}`, { env: without });
  await ends(`verify ${saved} --request ${answer}`, 1, /the receipt is of another request$/m, { env: without });
});

it('strata inference shows which workers of the network made an answer, and how far their model is proved', async () => {
  const { running } = await testGateway();
  const [served = assert.fail('no model')] = running.gateway.models.list();
  const { engine } = served.backend as unknown as { readonly engine: Pick<Engine, 'generate'> };
  const generate = engine.generate.bind(engine);
  const verified = { level: 'claimed', reason: 'a test' } as const;
  const part = { nonce: '0'.repeat(32), chainHead: '0'.repeat(64), verified };
  engine.generate = (job, signal, context) => {
    context?.onSegment?.({ ...part, worker: '12D3KooWFirst', from: 0, to: 3 });
    context?.onSegment?.({ ...part, worker: '\u001b[2J', from: 3, to: 5 });
    return generate(job, signal, context);
  };
  const { id } = await asked();
  engine.generate = generate;
  const stdout = await strata(`verify ${id}`);
  assert.match(stdout, /^- {6}worker {5}choice 0, tokens 0 to 3: 12D3KooWFirst, reported by the gateway$/m);
  assert.match(stdout, /^- {6}model {6}claimed \(a test\), reported by the gateway$/m);
  assert.doesNotMatch(stdout, /^ok +worker/m, 'nothing was checked');
  assert.ok(!stdout.includes('\u001b'), 'only a valid peer id is printed');
});

it('strata inference reports what is missing for a verification', async () => {
  const { without } = await testGateway();
  const none = `rwr_${'0'.repeat(26)}`;
  for (const [args, code, words, env] of [
    [none, 2, /no API key/, without],
    [none, 3, /404: This key has no such receipt/],
    [`${none} --key sk-wrong`, 3, /401: This API key is unknown/],
    ['rwr_0', 2, /'rwr_0' is not a receipt id/],
    [`${none} --salt abc`, 2, /--salt must be 64 hexadecimal digits/],
    ['nowhere.json', 2, /nowhere\.json/],
    [`${none} --base nowhere`, 2, /--base is the URL of a gateway/],
    [(await asked()).answer, 2, /contains no receipt.*--answer/],
  ] as const)
    await ends(`verify ${args}`, code, words, env && { env });
});

it('strata inference shows what the key used', async () => {
  await asked();
  const table = await strata('keys usage');
  assert.match(table, /day +key +model +requests +prompt +cached +completion +spend +label/);
  assert.match(table, /key_\w+ +strata-tiny-chat +\d+ +\d+ +\d+ +\d+ +0 +mine/);
  const [row] = JSON.parse(await strata('keys usage --json --days 1'));
  assert.ok(row.requests >= 1 && row.completion_tokens > row.requests);
  await ends('keys usage --days 0', 2, /./);
  assert.match(await strata('keys usage key_none'), /no requests since/);
});

it('strata inference changes the keys that sign receipts while the gateway runs', async () => {
  const before = await asked();
  await strata('keys rotate-signing');
  await (await testGateway()).running.gateway.ledger.reload();
  for (const { id } of [before, await asked()]) await strata(`verify ${id}`);
  const { keys } = (await (await gateway('/.well-known/inference-keys.json')).json()) as {
    readonly keys: readonly { readonly status: string }[];
  };
  assert.equal(keys.map(({ status }) => status).join(), 'current,retired');
});

it('strata inference downloads a model once, and then lists and inspects the file', async () => {
  await using data = await temporaryDirectory();
  const file = await readFile(tinyChatModel);
  const list = JSON.stringify([{ type: 'file', path: 'tiny.gguf', size: file.length }]);
  const env = { STRATA_DATA: data.path };
  {
    await using hub = await fakeService((request, response) => {
      if (request.url === '/maker/tiny/resolve/main/tiny.gguf')
        response.writeHead(200, { 'content-length': file.length, etag: '"1"' }).end(file);
      else if (request.url?.startsWith('/api/models/maker/tiny/tree/main'))
        response.writeHead(200, { 'content-type': 'application/json' }).end(list);
      else response.writeHead(404).end();
    });
    const how = /downloaded \(.+\); to serve it: strata inference gateway --model hf:maker\/tiny/;
    const pulled = await ends('models pull hf:maker/tiny', 0, how, {
      env: { ...env, STRATA_MODEL_OPTIONS: `hf-endpoint=${hub.base}` },
    });
    assert.match(pulled.stdout, /models\/maker\/tiny\/tiny\.gguf\n$/);
  }
  await ends('models pull hf:maker/tiny', 0, /already downloaded/, { env });
  assert.match(await strata('models list --local', { env }), /hf:maker\/tiny\S* .*complete/);
  assert.equal(JSON.parse(await strata('models inspect hf:maker/tiny --json', { env })).sizeBytes, file.length);
  await ends('models pull hf:../../etc/passwd', 2, /hf:/, { env });
  await ends('models pull maker/tiny', 2, /hf:|gguf/, { env });
});
