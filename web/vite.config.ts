// Builds two apps: the explorer of the stack service and the chat of the inference service.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** The service URLs for development (`npm run dev -w web`). */
const STACK = process.env.STRATA_STACK ?? 'http://127.0.0.1:8787';
const INFERENCE = process.env.STRATA_INFERENCE ?? 'http://127.0.0.1:8788';

/** Writes precompressed copies of text files, so that servers do not compress them for each request. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    writeBundle({ dir = '' }) {
      for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
        if (!/\.(?:js|css|html|svg)$/.test(name)) continue;
        const file = path.join(dir, name);
        const content = readFileSync(file);
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
        writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }));
      }
    },
  };
}

/** In development: serves the app for every path that is neither a file nor an API path, as the services do. */
function deepLinks(page: string): Plugin {
  return {
    name: 'deep-links',
    configureServer({ middlewares }) {
      middlewares.use((request, _response, next) => {
        const isPage =
          request.headers.accept?.includes('text/html') && !/^\/(?:@|src|node_modules)/.test(request.url ?? '');
        if (isPage && !/\.html(?:\?|$)|^\/reference/.test(request.url ?? '')) request.url = `/${page}.html`;
        next();
      });
    },
  };
}

export default defineConfig(({ mode }) => ({
  root: import.meta.dirname,
  resolve: {
    // Preact implements the React API at a sixth of the size; the types are React's.
    alias: [
      { find: /^react(?:-dom)?$/, replacement: 'preact/compat' },
      { find: /^react-dom\/client$/, replacement: 'preact/compat/client' },
      { find: /^react\/(jsx-runtime|jsx-dev-runtime)$/, replacement: 'preact/$1' },
    ],
  },
  plugins: [compressed(), deepLinks(mode === 'chat' ? 'chat' : 'explorer')],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // No inlining, so that the content security policy need not allow it.
    assetsInlineLimit: 0,
    target: 'es2023',
    // tests/smoke/first-view.test.ts reads the manifest to measure the initial scripts of a page.
    manifest: true,
    rollupOptions: {
      // Directives for server rendering are irrelevant here.
      onwarn: (warning, warn) => {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
      },
      input: {
        explorer: path.join(import.meta.dirname, 'explorer.html'),
        chat: path.join(import.meta.dirname, 'chat.html'),
      },
      output: {
        codeSplitting: {
          groups: [
            // Libraries of every page: they stay in the browser cache when the app changes.
            { name: 'preact', test: /node_modules\/preact\// },
            {
              name: 'router',
              test: /node_modules\/@tanstack\/(?:react-router|router-core|history|react-store|store)\//,
            },
            { name: 'query', test: /node_modules\/@tanstack\/(?:react-query|query-core)\// },
            // The request code, without receipt verification, which shares it and is loaded on first use.
            {
              name: 'asking',
              test: /client\/src\/(?:answer-text|answer-problem|fetch-bounded|read-sse|service-address)/,
            },
          ],
        },
      },
    },
  },
  server: {
    host: '127.0.0.1',
    proxy:
      mode === 'chat'
        ? { '^/(v1|health|network|ledger|\\.well-known|openapi\\.json|keys)': INFERENCE }
        : { '^/(stack/v1|health|keys|suggest|ledger|\\.well-known|openapi\\.json|reference|site\\.json)': STACK },
  },
}));
