/** How a user runs this command, in a checkout and where the package is installed. */
export const JOUST = "npx joust";
