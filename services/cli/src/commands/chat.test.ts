// What `strata inference chat` does with a gateway that breaks off, stands elsewhere or is hostile; inference.test.ts has a real one.
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { fakeService } from '../test/mcp-client.ts';
import { runStrata } from '../test/run-strata.ts';
import { forTerminal } from './chat.ts';

const piece = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;

/** Runs `strata inference chat` against a gateway that answers so, at this path. */
async function chatWith(text: string, at = '') {
  const paths: string[] = [];
  const answer = (response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
  await using gateway = await fakeService((request, response) => {
    paths.push(request.url ?? '');
    request.resume().on('end', () => answer(response));
  });
  const args = ['inference', 'chat', '--model', 'm', '--base', gateway.base + at, '--key', 'sk-1', 'Hi'];
  return { ...(await runStrata(args)), paths };
}

describe('strata inference chat', () => {
  it('fails where an answer breaks off, an error comes midway, or a piece is nonsense; what came is printed', async () => {
    const error = 'data: {"error":{"message":"The engine was lost.","type":"server_error"}}\n\n';
    for (const [rest, words] of [
      ['', /broke off before the answer was over/],
      [error, /The engine was lost\./],
      ['data: {\n\n', /a chunk that cannot be read/],
      ['data: {"choices":[{"index":0,"delta":{"content":7}}]}\n\n', /a chunk that cannot be read/],
    ] as const) {
      const { code, stdout, stderr } = await chatWith(piece('Half') + rest);
      assert.deepEqual([code, stdout], [1, 'Half\n']);
      assert.match(stderr, words);
      assert.doesNotMatch(stderr, /\n +at /);
    }
  });

  it('finds a gateway that stands below a path of its host', async () => {
    const { code, stdout, paths } = await chatWith(`${piece('Yes')}data: [DONE]\n\n`, '/lent/v1');
    assert.deepEqual([code, stdout, paths], [0, 'Yes\n', ['/lent/v1/chat/completions']]);
  });

  it('lets no model steer a terminal', () => {
    assert.equal(forTerminal('a\u001b]0;title\u0007b\u009b2Jc\r\n\td\u007f'), 'a]0;titleb2Jc\n\td');
  });
});
