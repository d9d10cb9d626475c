// The version of the gateway, as /health tells it; a test compares it with package.json.
export const VERSION = '0.1.0';
