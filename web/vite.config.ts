// Two pages from one build: the explorer of the stack service, the chat of the inference service.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** Where the services answer while the pages are worked on (`npm run dev -w web`). */
const STACK = process.env.STRATA_STACK ?? 'http://127.0.0.1:8787';
const INFERENCE = process.env.STRATA_INFERENCE ?? 'http://127.0.0.1:8788';

/** Beside each file that compresses its compressed forms, so that no server has to do it for every reader. */
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

/** While the pages are worked on: every path that is no file and no call is the page's own, as the services have it. */
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
    // React's interface by Preact, a sixth of its size; the types stay React's.
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
    // Nothing is inlined, so that no content security policy has to allow it.
    assetsInlineLimit: 0,
    target: 'es2023',
    // Which file has which: tests/smoke/first-view.test.ts counts what a page begins with.
    manifest: true,
    rollupOptions: {
      // Directives for servers that render; there is none here.
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
            // Libraries that every page needs: they stay in the browser when the pages change.
            { name: 'preact', test: /node_modules\/preact\// },
            {
              name: 'router',
              test: /node_modules\/@tanstack\/(?:react-router|router-core|history|react-store|store)\//,
            },
            { name: 'query', test: /node_modules\/@tanstack\/(?:react-query|query-core)\// },
            // What asking needs, apart from the check of receipts, which shares it and comes when it is first wanted.
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
