// `strata inference verify`, `keys usage` and `models pull`, as a user runs them.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { before, describe, it } from 'node:test';
import type { Engine } from '@strata/engine';
import { tinyChatModel } from '@strata/testnet';
import { fakeService } from '../test/mcp-client.ts';
import { runStrata, temporaryDirectory } from '../test/run-strata.ts';
import { model, type TestGateway, testGateway } from '../test/running-gateway.ts';

const strata = (args: string, env: Readonly<Record<string, string>>) =>
  runStrata(['inference', ...args.split(' ')], { env });

describe('the receipt of a completion', () => {
  let service: TestGateway;
  let env: Readonly<Record<string, string>>;
  let base: string;
  let headers: Record<string, string>;
  before(async () => {
    service = await testGateway();
    env = service.env;
    base = `http://127.0.0.1:${service.running.port}`;
    headers = { authorization: `Bearer ${env.STRATA_INFERENCE_KEY}`, 'content-type': 'application/json' };
  });

  /** Asks, and keeps what was sent and what came in files. */
  async function asked(stream: boolean): Promise<{ id: string; request: string; answer: string }> {
    const body = JSON.stringify({
      model,
      messages: [{ role: 'user', content: 'What is SPF?' }],
      stream,
      temperature: 0,
    });
    const response = await fetch(`${base}/v1/chat/completions`, { method: 'POST', headers, body });
    const request = path.join(service.directory, `request-${stream}.json`);
    const answer = path.join(service.directory, `answer-${stream}`);
    await writeFile(request, body);
    await writeFile(answer, await response.text());
    return { id: response.headers.get('x-receipt-id') ?? '', request, answer };
  }

  it('holds, and is of this request and this answer, whole or streamed', async () => {
    for (const stream of [false, true]) {
      const { id, request, answer } = await asked(stream);
      const { code, stdout, stderr } = await strata(`verify ${id} --request ${request} --answer ${answer}`, env);
      assert.equal(code, 0, stderr);
      for (const step of ['content', 'key', 'signature', 'leaf', 'inclusion', 'checkpoint', 'request', 'answer'])
        assert.match(stdout, new RegExp(`^ok +${step}`, 'm'));
    }
  });

  it('is not of another request or answer, and does not hold when it is altered', async () => {
    const { id, request, answer } = await asked(false);
    await writeFile(answer, (await readFile(answer, 'utf8')).replace('SPF', 'SPX'));
    for (const [args, step] of [
      [`--answer ${answer} --request ${request}`, 'answer'],
      [`--request ${answer}`, 'request'],
    ] as const) {
      const other = await strata(`verify ${id} ${args}`, env);
      assert.equal(other.code, 1);
      assert.match(other.stdout, new RegExp(`^FAILED ${step}`, 'm'));
    }
    const saved = path.join(service.directory, 'receipt.json');
    const receipt = await (await fetch(`${base}/v1/receipts/${id}`, { headers })).text();
    await writeFile(saved, receipt);
    const { STRATA_INFERENCE_KEY: _key, ...open } = env;
    assert.equal((await strata(`verify ${saved}`, open)).code, 0, 'needs no key');
    await writeFile(saved, receipt.replace(/"completion_tokens":\d+/, '"completion_tokens":1'));
    const altered = await strata(`verify ${saved}`, env);
    assert.equal(altered.code, 1);
    assert.match(altered.stdout, /^FAILED signature/m);
  });

  it('shows which workers of the network made it', async () => {
    const [served] = service.running.gateway.models.list();
    assert.ok(served);
    const { engine } = served.backend as unknown as { readonly engine: Pick<Engine, 'generate'> };
    const generate = engine.generate.bind(engine);
    const part = { nonce: '0'.repeat(32), chainHead: '0'.repeat(64) };
    engine.generate = (job, signal, context) => {
      context?.onSegment?.({ ...part, worker: '12D3KooWFirst', from: 0, to: 3 });
      context?.onSegment?.({ ...part, worker: '\u001b[2J', from: 3, to: 5 });
      return generate(job, signal, context);
    };
    const { id } = await asked(false);
    engine.generate = generate;
    const { stdout, code } = await strata(`verify ${id}`, env);
    assert.equal(code, 0);
    assert.match(stdout, /^- {6}worker {5}choice 0, tokens 0 to 3: 12D3KooWFirst, told by the gateway$/m);
    assert.doesNotMatch(stdout, /^ok +worker/m, 'nothing was checked');
    assert.ok(!stdout.includes('\u001b'), 'what is no peer id is not printed');
  });

  it('is not verified where something is missing', async () => {
    const { STRATA_INFERENCE_KEY: _key, ...without } = env;
    const none = `rwr_${'0'.repeat(26)}`;
    const { answer } = await asked(false);
    for (const [args, more, code, words] of [
      [none, without, 2, /whose receipt is it\?/],
      [none, env, 3, /404: This key has no such receipt/],
      [`${none} --key sk-wrong`, env, 3, /401: This API key is unknown/],
      ['rwr_0', env, 2, /'rwr_0' is no id of a receipt/],
      ['nowhere.json', env, 2, /nowhere\.json/],
      [`${none} --base nowhere`, env, 2, /--base is the URL of a gateway/],
      [answer, env, 2, /holds no receipt.*--answer/],
    ] as const) {
      const { code: seen, stderr } = await strata(`verify ${args}`, more);
      assert.equal(seen, code, stderr);
      assert.match(stderr, words);
    }
  });

  it('stands beside what the key used', async () => {
    await asked(false);
    const table = await strata('keys usage', env);
    assert.match(table.stdout, /day +key +model +requests +prompt +cached +completion +label/);
    assert.match(table.stdout, /key_\w+ +strata-tiny-chat +\d+ +\d+ +\d+ +\d+ +mine/);
    const [row] = JSON.parse((await strata('keys usage --json --days 1', env)).stdout);
    assert.ok(row.requests >= 1 && row.completion_tokens > row.requests);
    assert.equal((await strata('keys usage --days 0', env)).code, 2);
    assert.match((await strata('keys usage key_none', env)).stdout, /nothing was used since/);
  });

  it('is signed by keys that can be changed while the gateway runs', async () => {
    const before = await asked(false);
    assert.equal((await strata('keys rotate-signing', env)).code, 0);
    await service.running.gateway.ledger.reload();
    const after = await asked(false);
    for (const { id } of [before, after]) assert.equal((await strata(`verify ${id}`, env)).code, 0);
    const { keys } = (await (await fetch(`${base}/.well-known/inference-keys.json`)).json()) as {
      readonly keys: readonly { readonly status: string }[];
    };
    assert.equal(keys.map(({ status }) => status).join(), 'current,retired');
  });
});

describe('strata inference models pull', () => {
  it('downloads a model once, which is then listed, inspected and served from here', async () => {
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
      const pulled = await strata('models pull hf:maker/tiny', { ...env, STRATA_HF_ENDPOINT: hub.base });
      assert.equal(pulled.code, 0, pulled.stderr);
      assert.match(pulled.stdout, /models\/maker\/tiny\/tiny\.gguf\n$/);
      assert.match(pulled.stderr, /downloaded; serve it: strata inference gateway --model hf:maker\/tiny/);
    }
    const again = await strata('models pull hf:maker/tiny', env);
    assert.match(again.stderr, /was here already/);
    assert.match((await strata('models list --local', env)).stdout, /hf:maker\/tiny\S* .*complete/);
    const inspected = await strata('models inspect hf:maker/tiny --json', env);
    assert.equal(JSON.parse(inspected.stdout).sizeBytes, file.length);
    for (const [reference, words] of [
      ['hf:../../etc/passwd', /hf:/],
      ['maker/tiny', /hf:|gguf/],
    ] as const) {
      const { code, stderr } = await strata(`models pull ${reference}`, env);
      assert.equal(code, 2, stderr);
      assert.match(stderr, words);
      assert.doesNotMatch(stderr, /unexpected|\n +at /);
    }
  });
});
