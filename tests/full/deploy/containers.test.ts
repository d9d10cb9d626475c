// The image and the compose file, as far as they can be judged without an engine.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { parse } from 'yaml';
import { z } from 'zod';
import { assertSettings, root, serviceOf } from '../../support/deployed.ts';

const here = path.join(root, 'deploy/docker');
const dockerfile = readFileSync(path.join(here, 'Dockerfile'), 'utf8');

/** Instructions with their continued lines joined, without comments. */
const joined = dockerfile.replaceAll(/^#.*\n/gm, '').replaceAll('\\\n', ' ');
const instructions = [...joined.matchAll(/^ *(\w+)\s+(.*?) *$/gm)].map(([, word = '', rest = '']) => ({ word, rest }));

/** `${NAME:-default}` as compose reads it. */
const filled = (text: string) => text.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');

const Service = z.object({
  image: z.string(),
  command: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string()).default({}),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  restart: z.string(),
  networks: z.array(z.string()),
  volumes: z.array(z.string()).default([]),
  secrets: z.array(z.string()).default([]),
  depends_on: z.union([z.array(z.string()), z.record(z.string(), z.unknown()).transform(Object.keys)]).default([]),
  deploy: z.object({ replicas: z.number().default(1) }).default({ replicas: 1 }),
  ports: z.array(z.string()).default([]),
});
const Named = z.record(z.string(), z.looseObject({}));
const Compose = z.object({ services: z.record(z.string(), Service), networks: Named, volumes: Named, secrets: Named });

const compose = Compose.parse(parse(readFileSync(path.join(here, 'compose.yaml'), 'utf8'), { merge: true }));
const ours = Object.entries(compose.services).filter(([, { image }]) => image.startsWith('strata:'));
const environment = instructions.filter(({ word }) => word === 'ENV').flatMap(({ rest }) => rest.split(/\s+/));
const settings: Record<string, string> = Object.fromEntries(environment.map((pair) => pair.split('=')));

it('the image is built in stages, runs unprivileged under an init, and reports its health', () => {
  const words = instructions.map(({ word }) => word);
  assert.ok(words.filter((word) => word === 'FROM').length >= 3);
  const last = instructions.slice(words.lastIndexOf('FROM'));
  const value = (name: string) => last.findLast(({ word }) => word === name)?.rest ?? '';
  assert.match(value('USER'), /^[1-9]\d+:[1-9]\d+$/);
  assert.match(value('HEALTHCHECK'), /health\.mjs/);
  assert.deepEqual(JSON.parse(value('ENTRYPOINT')), ['tini', '--', 'node', '/app/services/cli/src/main.ts']);
  assert.match(dockerfile, /^ARG NODE=node:24-[a-z-]+$/m);
  assert.match(dockerfile, /npm ci --omit=dev --ignore-scripts/);
  assert.doesNotMatch(dockerfile, /:latest|\bADD\b/);
});
it('the image takes what there is, and neither tests nor data nor secrets', () => {
  for (const { rest } of instructions.filter(({ word, rest }) => word === 'COPY' && !rest.startsWith('--from'))) {
    const source = rest.split(/\s+/)[0] ?? '';
    assert.ok(existsSync(path.join(root, source)), source);
  }
  const ignored = readFileSync(path.join(here, 'Dockerfile.dockerignore'), 'utf8').split('\n');
  for (const each of ['.git', '**/node_modules', '**/*.test.ts', 'data', 'deploy/docker/secrets'])
    assert.ok(ignored.includes(each), each);
});
it('the image has a command and settings that there are', async () => {
  const command = instructions.findLast(({ word }) => word === 'CMD')?.rest ?? '';
  await assertSettings(await serviceOf(JSON.parse(command) as string[]), settings);
});

const reader = [['docker', 'compose'], ['docker-compose']]
  .map(([program = '', ...args]) => {
    const { status, stdout } = spawnSync(program, [...args, 'version', '--short'], { encoding: 'utf8' });
    return { program, args, isInstalled: status === 0, isFirst: status === 0 && stdout.startsWith('1.') };
  })
  .find(({ isInstalled }) => isInstalled);

it('the compose file has two API nodes, two scanners, a scheduler, a gateway, three workers, a database and a proxy', () => {
  const replicas = (name: string) => compose.services[name]?.deploy.replicas;
  assert.deepEqual(['api', 'scanner', 'scheduler', 'gateway', 'postgres', 'proxy'].map(replicas), [2, 2, 1, 1, 1, 1]);
  assert.equal(Object.keys(compose.services).filter((name) => name.startsWith('worker-')).length, 3);
});
it('the compose file gives each of our services a command and settings that there are, and as few rights as can be', async () => {
  assert.ok(ours.length >= 7);
  for (const [name, { command, environment, read_only, cap_drop, security_opt, restart, ports }] of ours) {
    // Without ports of its own a service is reached through the proxy.
    assert.deepEqual([name, read_only, cap_drop, restart, ports], [name, true, ['ALL'], 'unless-stopped', []]);
    assert.ok(security_opt.includes('no-new-privileges:true'), name);
    const pairs = Object.entries({ ...settings, ...environment }).map(([key, value]) => [key, filled(value)]);
    const service = await serviceOf(command ?? []);
    // The image's health check asks there.
    const isMeasured = pairs.some(([key, value]) => key === 'STRATA_METRICS_PORT' && value?.endsWith('=9464'));
    assert.ok(service === 'stack' || isMeasured, name);
    await assertSettings(service, Object.fromEntries(pairs));
  }
});
it('the compose file names no volume, network, secret or service that it does not have', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    for (const network of service.networks) assert.ok(network in compose.networks, `${name}: ${network}`);
    for (const secret of service.secrets) assert.ok(secret in compose.secrets, `${name}: ${secret}`);
    for (const other of service.depends_on) assert.ok(other in compose.services, `${name}: ${other}`);
    for (const volume of service.volumes) {
      const source = filled(volume).split(':')[0] ?? '';
      if (!source.startsWith('.')) assert.ok(source in compose.volumes, `${name}: ${source}`);
    }
    for (const [key, value] of Object.entries(service.environment))
      if (key.endsWith('_FILE') && value.startsWith('/run/secrets/'))
        assert.ok(service.secrets.includes(value.slice('/run/secrets/'.length)), `${name}: ${value}`);
  }
  assert.doesNotMatch(JSON.stringify(compose), /"[A-Z_]*(?:PASSWORD|_KEY|TOKEN)":/, 'secrets come from files');
});
it('the compose file is taken by Compose', {
  skip: reader ? false : 'Compose is not installed',
}, () => {
  // `name` came with version 2, which Debian does not have yet; all else is read by either.
  const text = readFileSync(path.join(here, 'compose.yaml'), 'utf8');
  const input = reader?.isFirst ? text.replace(/^name: strata\n/m, '') : text;
  const config = [...(reader?.args ?? []), '--project-directory', here, '-f', '-', 'config'];
  const printed = execFileSync(reader?.program ?? '', config, { input, encoding: 'utf8', stdio: 'pipe' });
  const { services } = z.object({ services: Named }).parse(parse(printed));
  assert.deepEqual(Object.keys(services).sort(), Object.keys(compose.services).sort());
});
