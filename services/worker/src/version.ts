// The version of the worker, as reported in its offers and hello frames; a test compares it with package.json.
export const VERSION = '0.1.0';
export const SOFTWARE = `strata-worker/${VERSION}`;
