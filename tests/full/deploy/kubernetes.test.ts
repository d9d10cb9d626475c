// The Kubernetes manifests as kustomize renders them: what holds together, which rights there are, and whether our program understands them.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { assertSettings, root, serviceOf } from '../../support/deployed.ts';
import { casesOf } from '../../support/vectors.ts';

const here = path.join(root, 'deploy/kubernetes');

const Labels = z.record(z.string(), z.string());
const Probe = z.object({ httpGet: z.object({ path: z.string(), port: z.string() }) });
const Container = z.object({
  name: z.string(),
  image: z.string(),
  args: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  envFrom: z.array(z.object({ configMapRef: z.object({ name: z.string() }) })).default([]),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  startupProbe: Probe.optional(),
  livenessProbe: Probe.optional(),
  readinessProbe: Probe.optional(),
  resources: z.object({ requests: z.record(z.string(), z.unknown()), limits: z.looseObject({ memory: z.string() }) }),
  securityContext: z.object({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.object({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
});
/** What the restricted pod security standard asks for, and what this program does. */
const PodSpec = z.object({
  automountServiceAccountToken: z.literal(false),
  enableServiceLinks: z.literal(false),
  securityContext: z.looseObject({
    runAsNonRoot: z.literal(true),
    seccompProfile: z.object({ type: z.literal('RuntimeDefault') }),
  }),
  terminationGracePeriodSeconds: z.number().min(30),
  initContainers: z.array(Container).default([]),
  containers: z.array(Container).min(1),
  volumes: z.array(z.looseObject({ name: z.string(), secret: z.object({ secretName: z.string() }).optional() })),
});
const Workload = z.object({
  kind: z.enum(['Deployment', 'StatefulSet']),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    replicas: z.number(),
    selector: z.object({ matchLabels: Labels }),
    template: z.object({ metadata: z.object({ labels: Labels }), spec: PodSpec }),
    volumeClaimTemplates: z.array(z.object({ metadata: z.object({ name: z.string() }) })).default([]),
  }),
});
type Workload = z.output<typeof Workload>;
const Expression = z.object({ key: z.string(), operator: z.literal('In'), values: z.array(z.string()) });
const Selector = z.object({ matchLabels: Labels.default({}), matchExpressions: z.array(Expression).default([]) });

const KINDS: Readonly<Record<string, string>> = casesOf('kubernetes', 'kinds');

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

// biome-ignore lint/suspicious/noExplicitAny: each kind is judged by what is asked of it
type Json = any;

const objectsIn = (text: string): Json[] => parseAllDocuments(text).map((document) => document.toJSON());
const render = (folder: string) =>
  objectsIn(execFileSync('kubectl', ['kustomize', path.join(here, folder)], { encoding: 'utf8', stdio: 'pipe' }));

/** Without kubectl the files themselves, as the base puts nothing on top of them that is asked here but names of images. */
const all = hasKubectl
  ? render('autoscaling')
  : globSync('**/*.yaml', { cwd: here }).flatMap((file) =>
      objectsIn(readFileSync(path.join(here, file), 'utf8')).filter(({ kind }) => kind !== 'Kustomization'),
    );
const of = (kind: string) => all.filter((object) => object.kind === kind);
const workloads: Workload[] = [...of('Deployment'), ...of('StatefulSet')].map((object) => Workload.parse(object));

const chosenBy = (selector: unknown) => {
  const { matchLabels, matchExpressions } = Selector.parse(selector);
  return workloads.filter(({ spec }) => {
    const { labels } = spec.template.metadata;
    const isLabelled = Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
    return isLabelled && matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ''));
  });
};

it('the manifests render with kustomize, in a namespace that enforces the restricted standard', {
  skip: hasKubectl ? false : 'kubectl is not installed',
}, () => {
  for (const folder of ['base', 'autoscaling'])
    for (const { kind, metadata } of render(folder))
      if (kind !== 'Namespace') assert.equal(metadata.namespace, 'strata');
  const containers = workloads.flatMap(({ spec }) => spec.template.spec.containers);
  for (const { image } of containers) assert.match(image, /^strata:\d/);
});
it('the manifests are of kinds and versions that Kubernetes has, each name once', () => {
  for (const { kind, apiVersion } of all) assert.equal(apiVersion, KINDS[kind], kind);
  const names = all.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  assert.deepEqual(names, [...new Set(names)]);
  const [namespace] = of('Namespace');
  assert.equal(namespace.metadata.labels['pod-security.kubernetes.io/enforce'], 'restricted');
  const replicas = workloads.map(({ metadata, spec }) => `${metadata.name} ${spec.replicas}`).sort();
  const expected = ['api 2', 'gateway 1', 'scanner 2', 'scheduler 2', 'worker 3'].map((each) => `strata-${each}`);
  assert.deepEqual(replicas, expected);
});
it('the manifests run commands that there are, with settings that there are', async () => {
  const maps = new Map(of('ConfigMap').map(({ metadata, data }) => [metadata.name, data as Record<string, string>]));
  for (const { metadata, spec } of workloads)
    for (const { args = [], env, envFrom } of spec.template.spec.containers) {
      const shared = envFrom.map(({ configMapRef: { name } }) => maps.get(name) ?? assert.fail(name));
      const own = Object.fromEntries(env.map(({ name, value }) => [name, value]));
      const service = await serviceOf(args);
      await assertSettings(service, Object.assign({}, ...shared, own));
      const isMeasured = env.some(({ name, value }) => name === 'STRATA_METRICS_PORT' && value?.endsWith('=9464'));
      assert.ok(service === 'stack' || isMeasured, metadata.name);
    }
});
it('the manifests choose their own pods, mount what there is, and are asked at ports that they have', () => {
  for (const { metadata, spec } of workloads) {
    const chosen = chosenBy(spec.selector).map((workload) => workload.metadata.name);
    assert.deepEqual(chosen, [metadata.name]);
    const mountable = [...spec.template.spec.volumes, ...spec.volumeClaimTemplates.map((claim) => claim.metadata)];
    const volumes = new Set(mountable.map(({ name }) => name));
    for (const container of [...spec.template.spec.initContainers, ...spec.template.spec.containers]) {
      for (const { name } of container.volumeMounts) assert.ok(volumes.has(name), `${metadata.name}: ${name}`);
      for (const { value } of container.env.filter(({ name }) => name.endsWith('_FILE'))) {
        const isMounted = container.volumeMounts.some(({ mountPath }) => value.startsWith(`${mountPath}/`));
        assert.ok(isMounted, `${metadata.name}: ${value}`);
      }
    }
    for (const { name, ports, startupProbe, livenessProbe, readinessProbe } of spec.template.spec.containers) {
      const probes = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet);
      const at = (path: string) => ({ path, port: 'metrics' });
      assert.deepEqual(probes, [at('/health'), at('/health'), at('/ready')], name);
      assert.partialDeepStrictEqual(ports, [{ name: 'metrics', containerPort: 9464 }], name);
    }
  }
  for (const { metadata, spec } of of('Service')) {
    const [workload, ...ambiguous] = chosenBy({ matchLabels: spec.selector });
    assert.deepEqual(ambiguous, [], metadata.name);
    const ports = workload?.spec.template.spec.containers.flatMap((container) => container.ports);
    const names = ports?.map(({ name }) => name);
    for (const { targetPort } of spec.ports) assert.ok(names?.includes(targetPort), `${metadata.name}: ${targetPort}`);
  }
  for (const { metadata, spec } of of('PodDisruptionBudget'))
    assert.equal(chosenBy(spec.selector).length, 1, metadata.name);
  const names = workloads.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  for (const { spec } of of('HorizontalPodAutoscaler'))
    assert.ok(names.includes(`${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`));
});
it('the manifests allow only the listed connections', () => {
  const policies = of('NetworkPolicy');
  const silent = policies.find(({ metadata }) => metadata.name === 'nothing-by-default');
  assert.deepEqual(silent.spec, { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  for (const { metadata, spec } of policies) {
    assert.ok(chosenBy(spec.podSelector).length > 0, metadata.name);
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
      assert.ok(rule.ports?.length > 0, metadata.name);
      for (const { podSelector } of [...(rule.from ?? []), ...(rule.to ?? [])])
        if (podSelector) assert.ok(chosenBy(podSelector).length > 0, metadata.name);
    }
  }
  const scans = policies.find(({ metadata }) => metadata.name === 'scans');
  for (const { ipBlock } of scans.spec.egress[0].to)
    assert.ok(ipBlock.except.length > 0, 'private networks are not scanned');
});
it('the manifests take secrets that docs/operations.md says how to make', () => {
  const text = readFileSync(path.join(root, 'docs/operations.md'), 'utf8');
  const volumes = workloads.flatMap(({ spec }) => spec.template.spec.volumes);
  const named = new Set(volumes.flatMap(({ secret }) => secret?.secretName ?? []));
  assert.deepEqual([...named].sort(), ['strata-database', 'strata-join', 'strata-signing-keys']);
  for (const name of named) assert.ok(text.includes(`create secret generic ${name} `), name);
});
