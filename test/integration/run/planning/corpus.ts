import type {
  BriefType,
  Complexity,
  Expertise,
  Parallelism,
} from "../../../../src/run/planning/classification.ts";

export interface CorpusBrief {
  readonly brief: string;
  readonly type: BriefType;
  readonly complexity: Complexity;
  readonly parallelism: Parallelism;
  readonly expertise: readonly Expertise[];
  /** A few words of each sentence about a risk. */
  readonly risks: readonly string[];
}

/** Few things at once unless it says otherwise. */
type Expected = `${BriefType} ${Complexity}` | `${BriefType} ${Complexity} ${Parallelism}`;

/** As a person who knows the trade would say; then the rules were made to agree. */
const written: readonly (readonly [
  expected: Expected,
  expertise: string,
  brief: string,
  risks?: readonly string[],
])[] = [
  // New features.
  ["feature medium some", "backend frontend", "A parking app for one city"],
  ["feature small", "backend", "A command line tool that counts the words in text files."],
  ["feature small", "backend database", "Build a REST API for todo items with SQLite. No frontend."],
  ["feature small", "backend", "Write a Python script that renames photos by the date they were taken."],
  [
    "feature small",
    "frontend ux",
    "Create a landing page for our new product. It must be responsive. No backend, no database.",
  ],
  ["feature small", "frontend", "Add dark mode to the settings page."],
  [
    "feature small",
    "backend",
    "Implement a GraphQL endpoint that returns the current weather for a zip code.",
  ],
  [
    "feature medium some",
    "backend frontend security",
    "As a user I want to reset my password by email, so that I can log in again when I have forgotten it.",
    ["Access control"],
  ],
  [
    "feature small",
    "backend security",
    "Add Stripe payments to the checkout service. Do not change the frontend.",
    ["Payments", "service of others"],
  ],
  [
    "feature medium some",
    "backend frontend database",
    "Build a dashboard that shows sales per region from our Postgres database, with charts and a CSV export.",
  ],
  [
    "feature large many",
    "backend frontend database security ux devops",
    `Build a multi-tenant marketplace platform with a web shop, a mobile app, payments, an admin dashboard, reporting and a
public API. It should scale to millions of users, comply with GDPR and be deployed on Kubernetes with monitoring.`,
    ["Access control", "Payments", "Others rely on it", "Load", "Personal data"],
  ],
  [
    "feature large many",
    "backend frontend database security docs testing",
    `We need a clinic appointment system.

- Patients book, move and cancel appointments in the browser
- Doctors see their week at a glance
- Reminders by email and SMS
- Patient data is encrypted and access is logged in an audit log (HIPAA)
- PostgreSQL as the database
- Unit tests and integration tests for all booking rules
- A user guide for the front desk
- Export of the schedule as iCal`,
    ["Personal data"],
  ],
  [
    "feature small",
    "backend",
    "Make a Slack bot that posts the lunch menu every morning.",
    ["service of others"],
  ],
  [
    "feature small",
    "frontend",
    "Write a small browser game like snake, with a high score. No server, no accounts.",
  ],
  [
    "feature small",
    "backend frontend",
    "Build an issue tracker for our team: a web UI and a REST API. No login is needed, skip authentication.",
  ],
  [
    "feature small",
    "backend database",
    "Develop an inventory service with a REST API on top of MySQL; the UI is out of scope.",
  ],
  ["feature small", "backend", "Support webhooks in our notification service.", ["service of others"]],
  [
    "feature medium some",
    "backend frontend ux",
    "Create a web app for sharing recipes. It should be easy to use on a phone.",
  ],
  ["feature medium some", "backend frontend docs", "Build a documentation website with search."],
  ["feature small", "backend security", "Add error handling to the payment API.", ["Payments"]],
  ["feature small", "backend", "Add a rate limiter to the public API.", ["Others rely on it"]],
  ["feature small", "frontend ux", "Redesign the onboarding flow; wireframes first, then the screens."],

  [
    "feature medium some",
    "backend frontend database",
    `I want to build a budgeting app. Users enter expenses, see charts and set monthly limits. Store the data in SQLite. It must
work offline: no cloud, no login.`,
  ],
  ["feature small", "backend testing", "Build a URL shortener: an HTTP API, an in-memory store, tests."],
  [
    "feature small",
    "backend security",
    "Create an internal wiki with SSO login and full-text search.",
    ["Access control"],
  ],
  ["feature small", "backend", "Please don't build a UI. A cron job that mails the report is enough."],
  ["feature small", "backend", "write a blog engine in go, markdown files, no database"],
  [
    "feature small",
    "database",
    "Set up a data pipeline from Salesforce to BigQuery with nightly runs.",
    ["service of others"],
  ],
  ["feature small", "backend frontend", "Not only the backend but also the frontend must support French."],
  [
    "feature medium many",
    "backend frontend database devops",
    "Implement real-time chat with WebSockets, React on the front end and Redis on the back end, deployed with Docker.",
    ["Load"],
  ],

  // Bugs.
  [
    "bug-fix small",
    "backend frontend security",
    "Fix the login page: users cannot log in with SSO since yesterday's release.",
    ["Access control"],
  ],
  ["bug-fix small", "backend", "The nightly export job crashes with a null pointer exception."],
  ["bug-fix small", "frontend", "Bug: clicking the save button twice shows two dialogs."],
  [
    "bug-fix small",
    "backend security",
    "URGENT hotfix: customers are charged twice when the payment webhook times out.",
    ["Payments", "Time is short", "service of others"],
  ],
  ["bug-fix small", "frontend", "Fix a typo on the home page."],
  [
    "bug-fix small",
    "backend database",
    "Orders are saved with the wrong total when two workers update the same rows: find the race condition in the order service.",
    ["Things happen at once"],
  ],
  [
    "bug-fix small",
    "frontend",
    "The dashboard no longer loads in Safari. The API is fine, do not touch the backend.",
  ],
  ["bug-fix small", "backend database", "Fix the slow query behind the customer report API."],
  ["bug-fix small", "backend", "There is a memory leak in the image upload worker."],

  [
    "bug-fix small",
    "frontend",
    "Users report that the mobile app freezes when they open the map. Please find the cause and fix it.",
  ],
  [
    "bug-fix small",
    "devops",
    "Our Kubernetes pods restart every hour with OOMKilled. Find out why and fix it.",
  ],

  // Refactorings.
  ["refactoring small", "backend", "Refactor the billing module without changing behavior.", ["Payments"]],
  [
    "refactoring small",
    "database devops",
    "Migrate our MySQL database to PostgreSQL with zero downtime.",
    ["Stored data", "stay up"],
  ],
  [
    "refactoring small",
    "backend",
    "Clean up dead code in the Python backend and upgrade Django to version 5.",
  ],
  [
    "refactoring small",
    "frontend",
    "Rewrite the class components of our React frontend as function components. No new features, no API changes.",
  ],
  [
    "refactoring medium",
    "backend",
    "Decouple the order module from the legacy monolith and turn it into a service of its own. The database stays as it is.",
    ["Old code"],
  ],

  [
    "refactoring small",
    "backend",
    "Improve performance of the search endpoint, p99 latency must be below 200 ms.",
    ["Load"],
  ],

  // Documentation.
  ["documentation small", "docs", "Write a tutorial for new contributors."],
  ["documentation small", "backend docs", "Document the REST API of the order service."],
  ["documentation small", "docs", "Improve the README: explain how to install, configure and uninstall."],
  [
    "documentation small",
    "devops docs",
    "Write a runbook for the on-call team: what to do when the deployment fails.",
  ],
  ["documentation small", "docs", "We need a FAQ and a glossary for the help center. No code changes."],

  // Research.
  ["research small", "database", "Compare PostgreSQL and MongoDB for our event store and recommend one."],
  ["research small", "frontend", "Evaluate whether we should use React or Svelte for the new frontend."],
  ["research small", "backend", "Investigate why the search service is slow at peak times.", ["Load"]],
  ["research small", "backend", "Do a feasibility study: could the import run in Rust instead of Java?"],
  [
    "research medium",
    "backend security ux",
    "Research how competitors handle two-factor login and assess the user experience of each; describe the pros and cons and what it would cost us in the backend. Recommend one for customers with personal data and one for our own staff, and name what could go wrong with each of them.",
    ["Access control", "Personal data"],
  ],

  [
    "research small",
    "backend security",
    "Audit the authentication code for vulnerabilities and write a report.",
    ["Access control"],
  ],

  // Infrastructure.
  ["infrastructure small", "devops", "Set up CI/CD with GitHub Actions and deploy to AWS with Terraform."],
  ["infrastructure small", "backend devops", "Dockerize the Node.js API and push the image from CI."],
  [
    "infrastructure small",
    "devops",
    "Add monitoring and alerting with Prometheus and Grafana to the cluster.",
  ],
  [
    "infrastructure small",
    "database devops",
    "Provision nightly backups for the production database and prove that they can be restored.",
    ["Stored data"],
  ],

  // Tests.
  ["testing small", "backend testing", "Raise the test coverage of the parser to 80 %."],
  [
    "testing small",
    "backend frontend testing",
    "Write end-to-end tests with Playwright for the checkout page.",
    ["Payments"],
  ],
  ["testing small", "testing", "Stabilize the flaky tests of the test suite."],

  ["testing small", "security testing", "Add unit tests to the auth module.", ["Access control"]],

  // Short briefs, and briefs without a known phrase.
  ["feature small", "backend", "hello", ["brief is short"]],
  ["feature small", "backend", "Make it better!", ["brief is short"]],
  ["feature small", "backend", "Bitte baue mir etwas Schönes für den Garten.", ["no phrase of the brief"]],
];

export const corpus: readonly CorpusBrief[] = written.map(([expected, expertise, brief, risks = []]) => {
  const [type, complexity, parallelism = "few"] = expected.split(" ") as [
    BriefType,
    Complexity,
    Parallelism | undefined,
  ];
  return { brief, type, complexity, parallelism, expertise: expertise.split(" ") as Expertise[], risks };
});
