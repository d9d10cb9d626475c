// The version of the worker, as its offers and greetings tell it; a test compares it with package.json.
export const VERSION = '0.1.0';
export const SOFTWARE = `strata-worker/${VERSION}`;
