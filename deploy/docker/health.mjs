// Whether the service of this container lives: asks the port that HEALTH_URL names.
const url = process.env.HEALTH_URL ?? 'http://127.0.0.1:9464/health';
const response = await fetch(url, { signal: AbortSignal.timeout(4_000) }).catch(() => undefined);
process.exit(response?.ok ? 0 : 1);
