// OpenTelemetry traces, exported to OTEL_EXPORTER_OTLP_ENDPOINT by OTLP over HTTP as JSON. Without an endpoint the SDK
// is not loaded, and spans are the no-op spans of the API.
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Sampler } from '@opentelemetry/sdk-trace';
import type { FastifyInstance } from 'fastify';
import { SettingsError } from '../user-error.ts';

/**
 * The standard variables read here; the exporter itself reads the `OTEL_EXPORTER_OTLP_*` variables for headers,
 * timeout, compression and certificates.
 */
type Environment = Readonly<Record<string, string | undefined>>;

/** Whether spans are exported: costly instrumentation is skipped otherwise. */
let isOn = false;

const given = (env: Environment, name: string) => env[name]?.trim() || undefined;

/**
 * Starts tracing for the process if the environment enables it; disposing flushes the remaining spans. `service` is the
 * service name unless OTEL_SERVICE_NAME is set. Rejects with SettingsError.
 */
export async function startTracing(env: Environment, service: string): Promise<AsyncDisposable | undefined> {
  if (!checkTracing(env)) return undefined;
  const [sdk, { OTLPTraceExporter }, { AsyncLocalStorageContextManager }, { W3CTraceContextPropagator }, resources] =
    await Promise.all([
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/context-async-hooks'),
      import('@opentelemetry/core'),
      import('@opentelemetry/resources'),
    ]);
  const named = resources.resourceFromAttributes({ 'service.name': service });
  const fromEnvironment = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new sdk.TracerProvider({
    resource: resources.defaultResource().merge(named).merge(fromEnvironment),
    sampler: samplerOf(env, sdk),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  isOn = true;
  return {
    async [Symbol.asyncDispose]() {
      isOn = false;
      // An unreachable collector must not block the end of the process.
      await provider.shutdown().catch(() => {});
    },
  };
}

/** Whether the environment enables tracing; throws SettingsError for invalid settings. */
export function checkTracing(env: Environment): boolean {
  const endpoint = given(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? given(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const isOff = given(env, 'OTEL_SDK_DISABLED') === 'true' || given(env, 'OTEL_TRACES_EXPORTER') === 'none';
  if (endpoint === undefined || isOff) return false;
  if (!/^https?:\/\/[^/]/.test(endpoint))
    throw new SettingsError('OTEL_EXPORTER_OTLP_ENDPOINT: it must begin with http:// or https://');
  const protocol = given(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? given(env, 'OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol !== undefined && protocol !== 'http/json')
    throw new SettingsError(`OTEL_EXPORTER_OTLP_PROTOCOL: '${protocol.slice(0, 50)}' is not supported, use http/json`);
  readSampler(env);
  return true;
}

function readSampler(env: Environment) {
  const name = given(env, 'OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const [, parent, kind] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? [];
  if (kind === undefined) throw new SettingsError(`OTEL_TRACES_SAMPLER: unknown sampler '${name.slice(0, 50)}'`);
  const ratio = Number(given(env, 'OTEL_TRACES_SAMPLER_ARG') ?? 1);
  if (!(ratio >= 0 && ratio <= 1)) throw new SettingsError('OTEL_TRACES_SAMPLER_ARG: it must be a number from 0 to 1');
  return { parent, kind, ratio };
}

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration */
function samplerOf(
  env: Environment,
  {
    AlwaysOffSampler,
    AlwaysOnSampler,
    ParentBasedSampler,
    TraceIdRatioBasedSampler,
  }: typeof import('@opentelemetry/sdk-trace'),
): Sampler {
  const { parent, kind, ratio } = readSampler(env);
  const root =
    kind === 'always_on'
      ? new AlwaysOnSampler()
      : kind === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(ratio);
  return parent === undefined ? root : new ParentBasedSampler({ root });
}

const tracer = trace.getTracer('strata-http');

/**
 * A span for each request, a child of the caller's `traceparent` (https://www.w3.org/TR/trace-context/), with its
 * route, but no path and no key. Call before adding routes; does nothing if tracing is off.
 */
export function traceRequests(fastify: FastifyInstance): void {
  if (!isOn) return;
  fastify.addHook('onRequest', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unmatched';
    const parent = propagation.extract(ROOT_CONTEXT, request.headers);
    const attributes = { 'http.request.method': request.method, 'http.route': route, 'strata.request_id': request.id };
    const span = tracer.startSpan(`${request.method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
    reply.raw.once('close', () => {
      span.setAttribute('http.response.status_code', reply.raw.statusCode);
      if (reply.raw.statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    context.with(trace.setSpan(parent, span), done);
  });
}
