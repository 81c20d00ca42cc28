//! The character U+0000, which no column of the database holds, in every parameter of every route.

use std::collections::BTreeSet;

use console::router;
use pillarbox_tests::ConsoleResponse;
use reqwest::Method;
use store::MemberRole;

use super::walk::{filled, furnish};
use super::{console, member};

/// Parameters of addresses that no form has: places in lists, and what stands behind links.
const OF_ADDRESSES: [&str; 9] = [
    "after", "after_id", "before", "entry", "search", "value.x", "notice", "id", "type",
];

/// The names of all fields of a page's forms.
fn names(page: &ConsoleResponse) -> impl Iterator<Item = String> {
    let parts = page.html.split(" name=\"").skip(1);
    parts
        .filter_map(|rest| rest.split('"').next())
        .map(str::to_owned)
}

#[tokio::test(flavor = "multi_thread")]
async fn no_parameter_with_u_0000_is_a_mistake_of_ours() {
    let (stack, url) = console().await;
    let owner = member(&stack, &url, MemberRole::Owner).await;
    member(&stack, &url, MemberRole::Member).await;
    let mut ids = furnish(&stack).await;
    ids.insert("token", secret::SecretToken::random().reveal().to_owned());
    let routes = router::console_routes();
    let routes: Vec<_> = routes
        .iter()
        .filter(|route| route.path != "/sign-out")
        .collect();
    let mut fields: BTreeSet<String> = OF_ADDRESSES.map(str::to_owned).into();
    for route in routes.iter().filter(|route| route.method == Method::GET) {
        fields.extend(names(&owner.get(&filled(route, &ids)).await));
    }
    assert!(fields.len() > 30, "{fields:?}");
    let (mut broken, mut refused) = (Vec::new(), 0);
    for route in routes {
        let address = filled(route, &ids);
        let segments: Vec<&str> = route
            .path
            .split('/')
            .filter(|segment| segment.starts_with('{'))
            .collect();
        for segment in segments {
            let value = &ids[segment.trim_matches(['{', '}'])];
            let page = owner
                .request(
                    route.method.clone(),
                    &address.replace(value, "a%00"),
                    &[],
                    &[],
                )
                .await;
            assert_eq!(
                page.status, 404,
                "{} {address} with U+0000 for {segment}",
                route.method
            );
        }
        for field in &fields {
            let value = "a\0b";
            let pages = if route.method == Method::GET {
                let name: String = url::form_urlencoded::byte_serialize(field.as_bytes()).collect();
                vec![owner.get(&format!("{address}?{name}=a%00b")).await]
            } else {
                let form = [(field.as_str(), value)];
                vec![
                    owner.post(&address, &form).await,
                    owner.upload_form(&address, &form).await,
                ]
            };
            for page in pages {
                refused += usize::from(page.status == 422);
                if page.status.is_server_error() {
                    broken.push(format!(
                        "{} {address}, {field}: {}",
                        route.method, page.status
                    ));
                }
            }
        }
    }
    assert_eq!(broken, Vec::<String>::new());
    assert!(refused > 1_000, "{refused}");
    let found = owner
        .get(&format!(
            "/campaigns/{}/recipients.csv?text=%00",
            ids["campaign_id"]
        ))
        .await;
    assert!(
        found.status == 422 && found.html.contains("Nothing is found"),
        "{}",
        found.html
    );
}
