// OpenTelemetry traces, sent where OTEL_EXPORTER_OTLP_ENDPOINT says, by OTLP over HTTP as JSON. Without it nothing of the SDK is
// loaded, and the spans that the services begin are those of the API, which do nothing.
import { context, propagation, trace } from '@opentelemetry/api';
import type { Sampler } from '@opentelemetry/sdk-trace';

/** The standard variables that are read here; the exporter reads `OTEL_EXPORTER_OTLP_*` of headers, time-out, compression and certificates itself. */
type Environment = Readonly<Record<string, string | undefined>>;

/** A setting of tracing that cannot be used; `message` names the variable. */
export class TracingError extends Error {
  override readonly name = 'TracingError';
}

let isOn = false;

/** Whether spans go anywhere: what would cost something even when nobody asks for it is left out else. */
export const isTracing = (): boolean => isOn;

const given = (env: Environment, name: string) => env[name]?.trim() || undefined;

/**
 * Turns tracing on for the whole process where the environment asks for it; disposing sends what is left. `service` names it
 * unless OTEL_SERVICE_NAME does. Rejects with TracingError.
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
  const told = resources.detectResources({ detectors: [resources.envDetector] });
  const provider = new sdk.TracerProvider({
    resource: resources.defaultResource().merge(named).merge(told),
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
      // A collector that is away must not keep the process from ending with what it was started for.
      await provider.shutdown().catch(() => {});
    },
  };
}

/** Whether the environment asks for tracing; throws TracingError where it cannot be had so. */
export function checkTracing(env: Environment): boolean {
  const endpoint = given(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? given(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const isOff = given(env, 'OTEL_SDK_DISABLED') === 'true' || given(env, 'OTEL_TRACES_EXPORTER') === 'none';
  if (endpoint === undefined || isOff) return false;
  if (!/^https?:\/\/[^/]/.test(endpoint))
    throw new TracingError('OTEL_EXPORTER_OTLP_ENDPOINT: it must begin with http:// or https://');
  const protocol = given(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? given(env, 'OTEL_EXPORTER_OTLP_PROTOCOL');
  if (protocol !== undefined && protocol !== 'http/json')
    throw new TracingError(`OTEL_EXPORTER_OTLP_PROTOCOL: '${protocol.slice(0, 50)}' is not spoken here, http/json is`);
  readSampler(env);
  return true;
}

function readSampler(env: Environment) {
  const name = given(env, 'OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on';
  const [, parent, kind] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? [];
  if (kind === undefined) throw new TracingError(`OTEL_TRACES_SAMPLER: there is no sampler '${name.slice(0, 50)}'`);
  const ratio = Number(given(env, 'OTEL_TRACES_SAMPLER_ARG') ?? 1);
  if (!(ratio >= 0 && ratio <= 1)) throw new TracingError('OTEL_TRACES_SAMPLER_ARG: it must be a number from 0 to 1');
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
