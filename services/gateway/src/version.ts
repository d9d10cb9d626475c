// The version of the gateway, as reported by /health; a test compares it with package.json.
export const VERSION = '0.1.0';
